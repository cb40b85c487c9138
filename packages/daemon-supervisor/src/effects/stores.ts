import { openSessionStore, sessionDirectory } from "@holdfast/session-worker/transport";
import type { OpenStoreResult, SessionStore } from "@holdfast/session-worker/transport";
import { Lanes } from "../lanes.ts";
import type { Context } from "./context.ts";

/**
 * The files of sessions whose worker is proven gone. One lane per session: settling, finalizing and admitting never overlap, and a
 * launch waits until the files are released (I144).
 */
export class Stores {
  readonly #context: Context;
  readonly #open = new Map<string, SessionStore>();
  readonly #lanes = new Lanes();

  constructor(context: Context) {
    this.#context = context;
  }

  /** The open store of a recovering session: requests are admitted into it until the relaunch. */
  current(sessionId: string): SessionStore | null {
    return this.#open.get(sessionId) ?? null;
  }

  /** Runs `work` after all earlier work on this session's files. */
  inLane<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    return this.#lanes.run(sessionId, work);
  }

  /** Only in a lane, and only when the last writer is proven gone. */
  async open(sessionId: string): Promise<OpenStoreResult> {
    const known = this.#open.get(sessionId);
    if (known) return { kind: "opened", store: known };
    const { home, fs, ids, clock, self } = this.#context;
    const opened = await openSessionStore({
      directory: sessionDirectory(home, sessionId),
      sessionId,
      owner: { generation: ids.newGeneration(), identity: { ...self } },
      probeOwner: () => "gone",
      engine: "pool",
      fs,
      ids,
      clock,
    });
    if (opened.kind === "opened") this.#open.set(sessionId, opened.store);
    return opened;
  }

  /** Before a launch: nothing of the session's is open here any more. */
  release(sessionId: string): Promise<void> {
    return this.inLane(sessionId, () => this.close(sessionId));
  }

  /** Only in a lane. */
  async close(sessionId: string): Promise<void> {
    const store = this.#open.get(sessionId);
    this.#open.delete(sessionId);
    await store?.close();
  }

  async releaseAll(): Promise<void> {
    await Promise.allSettled([...this.#open.keys()].map((sessionId) => this.release(sessionId)));
  }
}
