export interface StressOptions {
  /** Of each way to send a signal. */
  readonly seconds: number;
  /** Kills, or power cuts of each file system; `null`: as many as the target does by itself. */
  readonly rounds: number | null;
}

/** Prints its counts, and tells whether what must not be has not been. Throws when it cannot run. */
export type Target = (options: StressOptions) => Promise<boolean>;
