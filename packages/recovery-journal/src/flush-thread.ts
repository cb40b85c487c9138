import { CodedError } from "@holdfast/shared-process";
import { Worker } from "node:worker_threads";

/** What the thread runs; text, so that it is the same from sources, from `dist` and in a bundle. It answers in order. */
const PROGRAM = `
const { fdatasyncSync } = require("node:fs");
const { parentPort } = require("node:worker_threads");
parentPort.on("message", (fd) => {
  let failure = null;
  try {
    fdatasyncSync(fd);
  } catch (error) {
    // A copied error keeps its message alone.
    const { message, code, errno, syscall } = error;
    failure = { message, code, errno, syscall };
  }
  parentPort.postMessage(failure);
});
`;

interface Flush {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Running {
  readonly worker: Worker;
  /** In the order in which they were asked for. */
  readonly pending: Flush[];
}

/**
 * Flushes on a thread of its own, so that a busy thread pool does not move them. The first flush starts the thread, as does
 * the first one after its end. It keeps the process alive while a flush is pending and at no other time.
 */
export class FlushThread {
  readonly #program: string;
  #running: Running | null = null;

  constructor(program = PROGRAM) {
    this.#program = program;
  }

  /**
   * Rejects with the error of fdatasync(2), or with `CodedError("flush_thread_ended")` when the thread ended before it
   * answered.
   */
  async fdatasync(fd: number): Promise<void> {
    this.#running ??= this.#start();
    const { worker, pending } = this.#running;
    await new Promise<void>((resolve, reject) => {
      if (pending.push({ resolve, reject }) === 1) worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origins
      worker.postMessage(fd);
    });
  }

  #start(): Running {
    // Neither loaders nor options of the main thread concern the program.
    const worker = new Worker(this.#program, { eval: true, env: {}, execArgv: [], name: "holdfast-flush" });
    const pending: Flush[] = [];
    worker.unref();
    worker.on("message", (failure: Partial<NodeJS.ErrnoException> | null) => {
      const flush = pending.shift();
      if (pending.length === 0) worker.unref();
      if (failure === null) flush?.resolve();
      else flush?.reject(Object.assign(new Error(failure.message), failure));
    });
    let cause: unknown = undefined;
    worker.on("error", (error) => (cause = error));
    worker.on("exit", () => {
      this.#running = null;
      const ended = new CodedError("flush_thread_ended", "the thread for flushes ended", { cause });
      for (const { reject } of pending.splice(0)) reject(ended);
    });
    return { worker, pending };
  }
}

/** One is enough for all journals of a process: the disk takes one flush after the other. */
export const flushThread = new FlushThread();
