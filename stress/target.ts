export interface StressOptions {
  /** Of each way to send a signal. */
  readonly seconds: number;
  /** Kills, power cuts of each file system, workloads or requests, or rounds of each session; `null`: as many as the target does by itself. */
  readonly rounds: number | null;
  /** Of the first made-up workload, or of what is random in the requests. */
  readonly seed: number;
}

/** Prints its counts, and tells whether what must not be has not been. Throws when it cannot run. */
export type Target = (options: StressOptions) => Promise<boolean>;
