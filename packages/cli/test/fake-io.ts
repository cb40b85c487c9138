import { OutputClosed } from "../src/io.ts";
import type { Io, Output, TerminalSignal } from "../src/io.ts";

/** Takes what a command writes. `closed` fails like a pipe without a reader. */
export class FakeOutput implements Output {
  readonly isTTY: boolean;
  readonly columns = 80;
  closed = false;
  #parts: Buffer[] = [];

  constructor(isTTY = false) {
    this.isTTY = isTTY;
  }

  write(data: string | Uint8Array): Promise<void> {
    if (this.closed) return Promise.reject(new OutputClosed("closed"));
    this.#parts.push(Buffer.from(data));
    return Promise.resolve();
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  get text(): string {
    return this.bytes.toString("utf8");
  }
}

/** A process's surroundings, held in memory. */
export class FakeIo implements Io {
  readonly stdout = new FakeOutput();
  readonly stderr: FakeOutput;
  readonly env: NodeJS.ProcessEnv = {};
  readonly cwd = "/work";
  readonly stdin: Io["stdin"];
  time = 0;
  #listeners = new Map<TerminalSignal, Set<() => void>>();

  constructor({ input = "", terminal = false }: { input?: string | Buffer; terminal?: boolean } = {}) {
    this.stderr = new FakeOutput(terminal);
    this.stdin = {
      isTTY: terminal,
      async *[Symbol.asyncIterator]() {
        yield Buffer.from(input);
      },
    };
  }

  now(): number {
    return this.time;
  }

  onSignal(signal: TerminalSignal, callback: () => void): Disposable {
    const listeners = this.#listeners.get(signal) ?? new Set();
    this.#listeners.set(signal, listeners.add(callback));
    return { [Symbol.dispose]: () => void listeners.delete(callback) };
  }

  /** False when nothing listens: the signal would end the process. */
  raise(signal: TerminalSignal): boolean {
    const listeners = this.#listeners.get(signal);
    for (const listener of listeners ?? []) listener();
    return (listeners?.size ?? 0) > 0;
  }

  ask(): Promise<string> {
    return Promise.resolve("");
  }
}
