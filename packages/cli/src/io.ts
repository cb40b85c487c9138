import type { Writable } from "node:stream";
import { askLine } from "./ask-line.ts";

/** The reader of our output is gone (a closed pipe, a killed terminal): nothing more can be said there. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

export interface Output {
  readonly isTTY: boolean;
  readonly columns: number;
  /** Resolves when the bytes have left, so that a slow reader slows us down; rejects `OutputClosed`. */
  write(data: string | Uint8Array): Promise<void>;
}

export type TerminalSignal = "SIGINT" | "SIGQUIT" | "SIGTERM" | "SIGHUP";

/** Everything of the surrounding process that a command touches, so that tests can stand in for it. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array> & { readonly isTTY: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Milliseconds that only grow. */
  now(): number;
  onSignal(signal: TerminalSignal, callback: () => void): Disposable;
  /** Keys as they are pressed, Ctrl-C and Ctrl-\ among them, unseen by a shell or a package runner; only on a terminal. */
  onKeys(callback: (keys: Uint8Array) => void): Disposable;
  /** A line from the terminal; empty when it ends, and from then on. */
  ask(question: string): Promise<string>;
}

const DEFAULT_COLUMNS = 80;
const CLOSED = new Set(["EPIPE", "EIO", "ECONNRESET", "ERR_STREAM_DESTROYED", "ERR_STREAM_WRITE_AFTER_END"]);

export function streamOutput(stream: Writable & { readonly isTTY?: boolean; readonly columns?: number }): Output {
  // Each write reports its own failure; without a listener the same error would end the process with a stack trace (I151).
  stream.on("error", () => {});
  return {
    isTTY: stream.isTTY ?? false,
    get columns() {
      // A terminal that was never told its size says 0.
      return stream.columns || DEFAULT_COLUMNS;
    },
    write: (data) =>
      new Promise((resolve, reject) => {
        stream.write(data, (error: NodeJS.ErrnoException | null | undefined) => {
          if (!error) resolve();
          else reject(CLOSED.has(error.code ?? "") ? new OutputClosed(error.message) : error);
        });
      }),
  };
}

export function systemIo(): Io {
  const stderr = streamOutput(process.stderr);
  return {
    get stdin() {
      return process.stdin;
    },
    stdout: streamOutput(process.stdout),
    stderr,
    env: process.env,
    get cwd() {
      return process.cwd();
    },
    now: () => performance.now(),
    onSignal: (signal, callback) => {
      process.on(signal, callback);
      return { [Symbol.dispose]: () => void process.off(signal, callback) };
    },
    onKeys: rawKeys,
    ask: async (question) => {
      await stderr.write(question);
      const line = await askLine(process.stdin);
      // After the end of input the cursor still stands behind the question.
      if (process.stdin.readableEnded) await stderr.write("\n");
      return line;
    },
  };
}

/** Without it there is no mode left to restore, and nothing more to read. */
function ignoreLostTerminal(): void {}

/** Node puts the mode back by itself where the program ends without disposal: by `exit`, SIGINT or SIGTERM. */
function rawKeys(callback: (keys: Uint8Array) => void): Disposable {
  const { stdin } = process;
  stdin.on("error", ignoreLostTerminal);
  stdin.on("data", callback);
  stdin.setRawMode(true);
  return {
    [Symbol.dispose]: () => {
      stdin.off("data", callback);
      stdin.setRawMode(false);
      stdin.pause();
      stdin.off("error", ignoreLostTerminal);
    },
  };
}
