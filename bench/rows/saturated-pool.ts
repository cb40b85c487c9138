import { pbkdf2 } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Benchmark } from "../support/bench.ts";
import { Home } from "../support/home.ts";
import { ENGINES, openForBench } from "../support/journals.ts";
import { median } from "../support/measure.ts";

const nameOf = (engine: string): string => `durable append while the thread pool is full, ${engine}`;

/** Twice as many as the pool has threads. */
const JOBS = 8;
/** Some tens of milliseconds each. */
const ITERATIONS = 50_000;
const SLICE_APPENDS = 8;
const WARM_APPENDS = 512;

/** How long an append takes while other work fills Node's thread pool, beside the same without that work. */
export const saturatedPoolBenchmark: Benchmark = {
  names: ENGINES.map(nameOf),
  run: async (bench) => {
    await using home = new Home();
    for (const engine of ENGINES.filter((candidate) => bench.wants(nameOf(candidate)))) {
      const { journal } = await openForBench(home.root, engine);
      const append = async (): Promise<number> => {
        await setImmediate();
        const from = performance.now();
        const request = { operationId: crypto.randomUUID(), generation: "g", kind: "prompt" } as const;
        const token = await journal.begin(request);
        const took = performance.now() - from;
        await journal.end(token, { kind: "completed" });
        return took;
      };
      for (let done = 0; done < WARM_APPENDS; done += 1) await append();
      const [free, full]: [number[], number[]] = [[], []];
      for (let round = 0; round < bench.rounds; round += 1) {
        for (let done = 0; done < SLICE_APPENDS; done += 1) free.push(await append());
        const work = new PoolWork();
        for (let done = 0; done < SLICE_APPENDS; done += 1) full.push(await append());
        await work.end();
      }
      await journal.close();
      bench.report({
        name: nameOf(engine),
        unit: "ms",
        value: median(full),
        floor: median(free),
        ...(engine === "pool" ? {} : { target: { of: "ratio", atMost: 2 } }),
        note: `p50 with ${JOBS} jobs of pbkdf2 in flight; floor: without`,
      });
    }
  },
};

/** Jobs in the thread pool, a new one for each that is done. */
class PoolWork {
  #ending = false;
  readonly #jobs = Array.from({ length: JOBS }, () => this.#run());

  async end(): Promise<void> {
    this.#ending = true;
    await Promise.all(this.#jobs);
  }

  async #run(): Promise<void> {
    while (!this.#ending) {
      await new Promise<void>((resolve, reject) => {
        pbkdf2("password", "salt", ITERATIONS, 64, "sha512", (error) => (error === null ? resolve() : reject(error)));
      });
    }
  }
}
