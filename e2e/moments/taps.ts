import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import type { Moment } from "./orders.ts";
import { files } from "./orders.ts";

/** What passes between a program and its world, told or stopped at one moment. */
export class Taps {
  readonly #files: ReturnType<typeof files>;
  readonly #stop: Moment | null;
  readonly #counts = new Map<string, number>();
  #armed = false;

  constructor(directory: string, stop: Moment | null) {
    this.#files = files(directory);
    this.#stop = stop;
  }

  /** Runs one call. The n-th of its name counts from the moment that the test made the file `armed`. */
  pass<T>(call: string, work: () => T): T {
    this.#armed ||= existsSync(this.#files.armed);
    if (!this.#armed) return work();
    const nth = (this.#counts.get(call) ?? 0) + 1;
    this.#counts.set(call, nth);
    this.#at({ when: "before", call, nth });
    const result = work();
    const after = (): void => this.#at({ when: "after", call, nth });
    // What was asked goes on its own way; a rejection is told to whoever asked.
    if (result instanceof Promise) result.then(after, () => undefined);
    else after();
    return result;
  }

  #at(moment: Moment): void {
    if (this.#stop === null) return appendFileSync(this.#files.record, `${JSON.stringify(moment)}\n`);
    const { when, call, nth } = this.#stop;
    if (moment.when !== when || moment.call !== call || moment.nth !== nth) return;
    writeFileSync(this.#files.reached, "");
    // For ever: the test ends this process here, and it must not take one step more until then.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
}

/** The same object, each call of the named methods a moment. */
export function tapped<T extends object>(
  target: T,
  taps: Taps,
  nameOf: (method: string, args: unknown[]) => string,
): T {
  return new Proxy(target, {
    get: (object, property) => {
      const value: unknown = Reflect.get(object, property, object);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        const name = typeof property === "string" ? nameOf(property, args) : "";
        const call = (): unknown => Reflect.apply(value, object, args);
        return name === "" ? call() : taps.pass(name, call);
      };
    },
  });
}
