import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { waitFor } from "../../e2e/support/wait-for.ts";
import { end, start } from "./children.ts";
import type { Home } from "./home.ts";

const program = fileURLToPath(new URL("../programs/slow-disk-supervisor.ts", import.meta.url));

export interface LoopReport {
  /** Of the times from one turn of the supervisor's loop to the next, looked at each millisecond. */
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Syncs that the loop waited for, and those that it did not. */
  readonly inTheLoop: number;
  readonly aside: number;
}

/** A supervisor whose syncs take `stallMs` longer each, and its loop's gaps while something runs. */
export class SlowDiskSupervisor implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(home: Home, stallMs: number): Promise<SlowDiskSupervisor> {
    const argv = [
      process.execPath,
      "--import",
      import.meta.resolve("tsx"),
      program,
      home.path,
      String(stallMs),
    ] as const;
    const child = start([...argv], { env: home.environment, stdio: ["ignore", "ignore", "inherit", "ipc"] });
    const serves = (): Promise<unknown> => home.daemon().catch(() => null);
    await waitFor(serves, "the supervisor on the slow disk serves", START_MS);
    return new SlowDiskSupervisor(child);
  }

  async during(run: () => Promise<unknown>): Promise<LoopReport> {
    this.#child.send("begin");
    await run();
    this.#child.send("report");
    const [report]: LoopReport[] = await once(this.#child, "message");
    if (!report) throw new Error("the supervisor did not report");
    return report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#child);
  }
}

const START_MS = 30_000;
