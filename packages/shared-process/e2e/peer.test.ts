import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { OpenResult, ProcessHandle } from "../src/index.ts";
import { atEnd, backends, firstLine, observer, start, temporaryDirectory } from "./harness.ts";

const UNSUPPORTED = { kind: "unknown", why: "unsupported" };
const CONNECT = "require('net').connect(process.argv[1]).on('connect', () => console.log('ready'))";
const LISTEN = "require('net').createServer(() => {}).listen(process.argv[1], () => console.log('ready'))";

const socketPath = (): string => join(temporaryDirectory(), "socket");

async function listen(where: string | number): Promise<Server> {
  // What is not read is not closed by Node when the other end is, and can still be asked.
  const server = createServer({ pauseOnConnect: true });
  if (typeof where === "number") server.listen(where, "127.0.0.1");
  else server.listen(where);
  atEnd(() => void server.close());
  await once(server, "listening");
  return server;
}

async function accept(server: Server): Promise<Socket> {
  const [socket]: Socket[] = await once(server, "connection");
  if (socket === undefined) throw new Error("nobody connected");
  atEnd(() => void socket.destroy());
  return socket;
}

async function connected(where: string | number): Promise<Socket> {
  const socket = connect(typeof where === "number" ? { port: where, host: "127.0.0.1" } : { path: where });
  atEnd(() => void socket.destroy());
  socket.on("error", () => {
    // ECONNRESET when the other end is killed.
  });
  await once(socket, "connect");
  return socket;
}

function opened(result: OpenResult): ProcessHandle {
  if (result.kind !== "opened") throw new Error(JSON.stringify(result));
  atEnd(() => result.handle[Symbol.dispose]());
  return result.handle;
}

describe("the process at the other end of a unix socket", () => {
  it("is the one that connected, for the server", async () => {
    const path = socketPath();
    const server = await listen(path);
    const accepting = accept(server);
    const client = await start(process.execPath, ["-e", CONNECT, path]);
    const handle = opened(observer.peer(await accepting));
    expect(handle.identity).toEqual(client.identity);
    expect(handle.verdict()).toEqual({ kind: "current", basis: "handle" });
    expect(handle.signal("SIGTERM")).toEqual({ kind: "sent", via: "pidfd" });
    expect((await handle.exited).status).toEqual({ signal: "SIGTERM" });
  });

  it("is the one that listens, for the client", async () => {
    const path = socketPath();
    const server = await start(process.execPath, ["-e", LISTEN, path]);
    expect(await firstLine(server)).toBe("ready");
    const handle = opened(observer.peer(await connected(path)));
    expect(handle.identity).toEqual(server.identity);
    expect(handle.signal("SIGKILL")).toEqual({ kind: "sent", via: "pidfd" });
    expect((await server.exited).status).toEqual({ signal: "SIGKILL" });
  });

  it("is gone when it has ended, and never whoever got its number", async () => {
    const path = socketPath();
    const server = await listen(path);
    const accepting = accept(server);
    const client = await start(process.execPath, ["-e", CONNECT, path]);
    const socket = await accepting;
    await client.signal("SIGKILL");
    await client.exited;
    expect(observer.peer(socket)).toEqual({ kind: "gone", why: "no-such-pid" });
  });

  it("is unknown for a socket that is no unix socket, or is closed", async () => {
    const server = await listen(0);
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const [tcp, other] = await Promise.all([accept(server), connected(port)]);
    expect(observer.peer(tcp)).toEqual(UNSUPPORTED);
    expect(observer.peer(other)).toEqual(UNSUPPORTED);
    other.destroy();
    expect(observer.peer(other)).toEqual(UNSUPPORTED);
  });

  it("is unknown without the library", async () => {
    const path = socketPath();
    const accepting = accept(await listen(path));
    await connected(path);
    expect(backends[1].observer.peer(await accepting)).toEqual(UNSUPPORTED);
  });
});
