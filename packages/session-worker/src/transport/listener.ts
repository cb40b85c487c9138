import { chmodSync, lstatSync, renameSync, unlinkSync } from "node:fs";
import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { dirname, join } from "node:path";
import { invariant, socketPathFits } from "@holdfast/shared-process";
import type { Ids } from "@holdfast/shared-process";

export interface ListenerOptions {
  /** Its directory exists and is private. */
  readonly path: string;
  readonly ids: Ids;
  readonly onConnection: (socket: Socket) => void;
}

/** Name that a socket has until it is renamed into place, for whoever must know that it fits. */
const ASIDE_TOKEN_BYTES = 6;
const asideName = (token: string): string => `.${token}`;
export const longestAside: string = asideName("x".repeat(8));

/**
 * A listening unix socket of Holdfast's. It is bound aside and renamed into place: never there with a wrong mode, and closing a server (which unlinks the
 * path it was bound to) can never remove somebody else's file.
 */
export class Listener {
  readonly #options: ListenerOptions;
  #bound: { readonly server: Server; readonly inode: number } | null = null;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  async bind(): Promise<void> {
    const { path, ids, onConnection } = this.#options;
    const aside = join(dirname(path), asideName(ids.newToken(ASIDE_TOKEN_BYTES)));
    invariant(socketPathFits(aside) && socketPathFits(path), "the path was chosen to fit");
    const server = createServer(onConnection);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(aside, () => {
        server.off("error", reject);
        resolve();
      });
    });
    server.on("error", () => {
      // Descriptors ran out for one connection; its client tries again.
    });
    chmodSync(aside, 0o600);
    const inode = lstatSync(aside).ino;
    renameSync(aside, path);
    this.#bound?.server.close();
    this.#bound = { server, inode };
  }

  /** Whether clients that go by the path reach this process. */
  get isReachable(): boolean {
    return this.#bound !== null && lstatSync(this.#options.path, { throwIfNoEntry: false })?.ino === this.#bound.inode;
  }

  close(): void {
    try {
      if (this.isReachable) unlinkSync(this.#options.path);
    } catch {
      // A disk that refuses must not hold up the end: the name leads to nobody, and goes with the next clean-up.
    }
    this.#bound?.server.close();
    this.#bound = null;
  }
}
