import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isObject } from "../src/protocol/frames.ts";
import { PROTOCOL_VERSION, Peer } from "../src/protocol/index.ts";
import type { OwnerRecord } from "../src/protocol/index.ts";

export interface Seen {
  readonly connection: number;
  readonly method: string;
  readonly params: Record<string, unknown>;
}
export interface Asked extends Seen {
  readonly peer: Peer;
  readonly socket: Socket;
}
export type Script = (asked: Asked) => unknown;

export const identity = {
  machineId: null,
  bootId: null,
  pid: 4_242,
  pidNamespace: null,
  timeNamespace: null,
  startTicks: null,
  pidfsInode: null,
};

export const hello = (home: string) => ({
  protocol: { name: "holdfast", version: PROTOCOL_VERSION },
  schemaRevision: 1,
  capabilities: [],
  version: "0.0.0",
  epoch: 1,
  home,
  pid: 4_242,
  startId: "1",
});

/** Any promise that never settles: a request without an answer. */
export const never = (): Promise<never> => new Promise(() => {});

/** A home in a temporary directory, whose daemon does what a test says. */
export class ScriptedHome {
  readonly home = mkdtempSync(join(tmpdir(), "holdfast-client-"));
  readonly seen: Seen[] = [];
  connections = 0;
  #server: Server | null = null;
  #sockets = new Set<Socket>();

  constructor() {
    mkdirSync(join(this.home, "owner"));
  }

  record(epoch: number, change: Partial<OwnerRecord> = {}): void {
    const record = {
      schemaVersion: 1,
      epoch,
      home: this.home,
      identity,
      lifelinePath: null,
      socketPath: this.socketPath(epoch),
      version: "0.0.0",
      phase: "serving",
      claimedAt: "2030-01-01T00:00:00.000Z",
      ...change,
    };
    writeFileSync(join(this.home, "owner", `${epoch}.json`), JSON.stringify(record));
  }

  socketPath(epoch: number): string {
    return join(this.home, `${epoch}.sock`);
  }

  async serve(epoch: number, script: Script, greet: (socket: Socket) => unknown = () => hello(this.home)) {
    const server = createServer((socket) => {
      const connection = ++this.connections;
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      const peer: Peer = new Peer(socket, {
        onRequest: async (method, params) => {
          const asked = { connection, method, params: isObject(params) ? params : {} };
          this.seen.push(asked);
          return await script({ ...asked, peer, socket });
        },
      });
      const greeting = greet(socket);
      if (greeting) peer.notify("hello", greeting);
    });
    await new Promise<void>((resolve) => server.listen(this.socketPath(epoch), resolve));
    this.#server = server;
    this.record(epoch);
  }

  /** As a killed daemon: connections end, the record stays. */
  async crash(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const server = this.#server;
    this.#server = null;
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  async remove(): Promise<void> {
    await this.crash();
    rmSync(this.home, { recursive: true, force: true });
  }
}
