import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROTOCOL_VERSION, Peer } from "@holdfast/client/protocol";
import type { EventBody } from "@holdfast/client/protocol";

export interface Asked {
  readonly method: string;
  readonly params: unknown;
  readonly peer: Peer;
}

/** A home whose daemon answers as a test says. */
export class ScriptedDaemon {
  readonly home = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
  readonly asked: Asked[] = [];
  #cursor = 0;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;

  async serve(answer: (asked: Asked) => unknown): Promise<void> {
    const socketPath = join(this.home, "d.sock");
    const server = createServer((socket) => {
      this.#sockets.add(socket);
      const peer: Peer = new Peer(socket, {
        onRequest: (method, params) => {
          const asked = { method, params, peer };
          this.asked.push(asked);
          return Promise.resolve(answer(asked));
        },
      });
      peer.notify("hello", {
        protocol: { name: "holdfast", version: PROTOCOL_VERSION },
        schemaRevision: 1,
        capabilities: [],
        version: "0.0.0",
        epoch: 1,
        home: this.home,
        pid: process.pid,
        startId: "1",
      });
    });
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    this.#server = server;
    mkdirSync(join(this.home, "owner"));
    const text = { machineId: null, bootId: null, pidNamespace: null, timeNamespace: null, startTicks: null };
    const record = {
      schemaVersion: 1,
      epoch: 1,
      home: this.home,
      identity: { ...text, pid: process.pid, pidfsInode: null },
      lifelinePath: null,
      socketPath,
      version: "0.0.0",
      phase: "serving",
      claimedAt: "2030-01-01T00:00:00.000Z",
    };
    writeFileSync(join(this.home, "owner/1.json"), JSON.stringify(record));
  }

  /** Sends events of session `s` to an attachment. */
  send(peer: Peer, ...bodies: readonly EventBody[]): void {
    for (const body of bodies) {
      this.#cursor += 1;
      const stamp = { cursor: `c${this.#cursor}`, at: "2030-01-01T00:00:00.000Z", sessionId: "s" };
      peer.notify("session/event", { ...body, ...stamp });
    }
  }

  async remove(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const server = this.#server;
    if (server) await new Promise((resolve) => server.close(resolve));
    rmSync(this.home, { recursive: true, force: true });
  }
}
