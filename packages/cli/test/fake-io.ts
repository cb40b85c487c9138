import { OutputClosed } from "../src/io.ts";
import type { Io, Output, TerminalSignal } from "../src/io.ts";

/** Takes what a command writes. `closed` fails like a pipe without a reader. */
export class FakeOutput implements Output {
  readonly isTTY: boolean;
  readonly columns: number;
  closed = false;
  #parts: Buffer[] = [];

  constructor(isTTY = false, columns = 80) {
    this.isTTY = isTTY;
    this.columns = columns;
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
  readonly stdout: FakeOutput;
  readonly stderr: FakeOutput;
  readonly env: NodeJS.ProcessEnv = {};

  /** In a home that the environment names, as for somebody who types no `--home`. */
  at(home: string): this {
    this.env["HOLDFAST_HOME"] = home;
    return this;
  }

  readonly cwd = "/work";
  readonly stdin: Io["stdin"];
  time = 0;
  /** What a person types at a question. */
  line: Promise<string> = Promise.resolve("");
  /** Whether keys are read one by one, as in raw mode. */
  raw = false;
  #keys: ((keys: Uint8Array) => void) | null = null;
  #listeners = new Map<TerminalSignal, Set<() => void>>();

  constructor({ input = "", terminal = false }: { input?: string | Buffer; terminal?: boolean } = {}) {
    this.stdout = new FakeOutput(terminal);
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

  onKeys(callback: (keys: Uint8Array) => void): Disposable {
    this.raw = true;
    this.#keys = callback;
    return {
      [Symbol.dispose]: () => {
        this.raw = false;
        this.#keys = null;
      },
    };
  }

  press(...keys: readonly number[]): void {
    this.#keys?.(Uint8Array.from(keys));
  }

  async ask(question: string): Promise<string> {
    await this.stderr.write(question);
    return await this.line;
  }
}
