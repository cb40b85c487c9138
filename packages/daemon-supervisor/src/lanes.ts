/** One thing at a time for each session. */
export class Lanes {
  readonly #lanes = new Map<string, Promise<void>>();

  /** Runs `work` after all earlier work of this session, whether or not that succeeded. */
  run<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#lanes.get(sessionId) ?? Promise.resolve();
    const result = before.then(work);
    const settled = result.then(
      () => undefined,
      () => undefined,
    );
    this.#lanes.set(sessionId, settled);
    void settled.then(() => {
      if (this.#lanes.get(sessionId) === settled) this.#lanes.delete(sessionId);
    });
    return result;
  }
}
