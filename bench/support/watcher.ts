import type { ChildProcess } from "node:child_process";
import { on } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { end, start } from "./children.ts";
import { running } from "./home.ts";
import { cpuTime } from "./resources.ts";

/** `poll`: without the package, by one blocking call; the floor of a notice. */
export type WatchedBy = "library" | "narrow" | "poll";

export interface WatchOrder {
  readonly pids: readonly number[];
  readonly by: WatchedBy;
}

export interface Ready {
  readonly backend: string;
}

/** When the end of a process was noticed, in nanoseconds of CLOCK_MONOTONIC, which is one for all programs of a machine. */
export interface Notice {
  readonly pid: number;
  readonly at: string;
}

const program = fileURLToPath(new URL("../programs/watcher.ts", import.meta.url));
const NS_PER_MS = 1e6;
/** Between one kill and the next: the watcher and the shell have gone back to sleep. */
const REST_MS = 10;
/** The rest grows by these steps, modulo the pace of a watcher that looks again and again: each kill falls elsewhere in it. */
const STEP_MS = 61.8;
const PACE_MS = 100;

/** A program of its own that watches processes which are not its children. */
export class Watcher implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #messages: AsyncIterator<unknown[]>;
  #noticed = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    const ended = new AbortController();
    child.once("exit", () => ended.abort());
    this.#messages = on(child, "message", { signal: ended.signal });
  }

  static async start(order: WatchOrder): Promise<Watcher> {
    const argv = [process.execPath, "--import", import.meta.resolve("tsx"), program] as const;
    const env = { PATH: process.env["PATH"] };
    const watcher = new Watcher(start([...argv], { env, stdio: ["ignore", "ignore", "inherit", "ipc"] }));
    watcher.#child.send(order);
    const { backend } = await watcher.#next(isReady);
    const wanted = { library: "linux-pidfd", narrow: "linux-narrow", poll: "poll" }[order.by];
    if (backend !== wanted) throw new Error(`the watcher's back-end is ${backend}`);
    return watcher;
  }

  /** Milliseconds of CPU that it has used. */
  cpuTime(): number {
    return cpuTime(running(this.#child.pid ?? null));
  }

  /** Kills a process that it watches; milliseconds from before the kill until the watcher noticed the end. */
  async noticeOf(pid: number): Promise<number> {
    this.#noticed += 1;
    await sleep(REST_MS + ((this.#noticed * STEP_MS) % PACE_MS));
    const from = process.hrtime.bigint();
    process.kill(pid, "SIGKILL");
    const notice = await this.#next(isNotice);
    if (notice.pid !== pid) throw new Error(`the end of ${notice.pid} was noticed, not that of ${pid}`);
    return Number(BigInt(notice.at) - from) / NS_PER_MS;
  }

  async #next<T>(isWanted: (message: unknown) => message is T): Promise<T> {
    for (;;) {
      const { value } = await this.#messages.next();
      const [message] = value;
      if (isWanted(message)) return message;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#child);
  }
}

const isReady = (message: unknown): message is Ready => Object.hasOwn(Object(message), "backend");
const isNotice = (message: unknown): message is Notice => Object.hasOwn(Object(message), "pid");
