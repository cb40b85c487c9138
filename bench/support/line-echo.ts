import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { end, start } from "./children.ts";
import type { Home } from "./home.ts";

const program = fileURLToPath(new URL("../programs/line-echo.ts", import.meta.url));

export interface LineEcho extends AsyncDisposable {
  /** One line there, one line of that many bytes back, parsed. */
  readonly ask: () => Promise<void>;
}

/** What a request over a unix socket to another process takes where nothing is done for it. */
export async function startLineEcho(home: Home, bytes: number): Promise<LineEcho> {
  const path = join(home.root, "echo.sock");
  const argv = [process.execPath, "--import", import.meta.resolve("tsx"), program, path, String(bytes)] as const;
  const child = start([...argv], { env: home.environment, stdio: ["ignore", "pipe", "inherit"] });
  if (child.stdout) await once(child.stdout, "data");
  const socket = connect(path);
  await once(socket, "connect");
  let text = "";
  let answered: (() => void) | null = null;
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    if (!text.endsWith("\n")) return;
    JSON.parse(text);
    text = "";
    answered?.();
  });
  return {
    ask: () =>
      new Promise((resolve) => {
        answered = resolve;
        socket.write('{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}\n');
      }),
    [Symbol.asyncDispose]: async () => {
      socket.destroy();
      await end(child);
    },
  };
}
