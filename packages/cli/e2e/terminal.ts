import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { onTestFinished } from "vitest";
import type { Home } from "../../../e2e/support/home.ts";
import { waitFor } from "../../../e2e/support/wait-for.ts";

/** A shell's line on a terminal of its own, whose keys a test presses. */
export class Terminal {
  readonly #child: ChildProcessWithoutNullStreams;
  #printed = "";

  constructor(home: Home, line: string) {
    const env = { ...home.environment(), SHELL: "/bin/bash", TERM: "xterm", AGENT: home.shellCommand };
    const child = spawn("script", ["-qefc", line, "/dev/null"], { env, cwd: home.files });
    child.stdout.on("data", (chunk: Buffer) => (this.#printed += chunk.toString("utf8")));
    // Its end says that; a key pressed after it is lost like on any closed terminal.
    child.stdin.on("error", () => {});
    onTestFinished(() => void child.kill("SIGKILL"));
    this.#child = child;
  }

  /** Everything until now, as on the screen. */
  get printed(): string {
    return this.#printed.replaceAll("\r\n", "\n");
  }

  async until(text: string): Promise<void> {
    await waitFor(() => this.printed.includes(text), `${JSON.stringify(text)} after ${JSON.stringify(this.printed)}`);
  }

  press(keys: string): void {
    this.#child.stdin.write(keys);
  }
}
