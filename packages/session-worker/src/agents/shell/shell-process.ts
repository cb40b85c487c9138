import type { Writable } from "node:stream";
import { constants } from "node:os";
import { invariant, spawnOwned } from "@holdfast/shared-process";
import type {
  Clock,
  ExitInfo,
  LaunchFailure,
  OwnedProcess,
  ProcessObserver,
  Signal,
  Spare,
} from "@holdfast/shared-process";
import type { EventBody } from "@holdfast/client/protocol";
import { encodeItem, shellArguments } from "./driver.ts";
import { OutputDecoder } from "./output.ts";
import type { Piece, StreamName } from "./output.ts";
import { MarkSplitter } from "./splitter.ts";
import type { Mark } from "./splitter.ts";

export interface ShellHandlers {
  record(events: readonly EventBody[]): Promise<void>;
  /** The running item ended; all its output was recorded. */
  itemEnded(mark: Mark): void;
  /** The shell is gone; all its output was recorded. */
  exited(exitCode: number): void;
}

export interface ShellOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly clock: Clock;
  readonly observer: ProcessObserver;
  readonly handlers: ShellHandlers;
  /** Of its group: processes that only happen to have been started there. */
  readonly spare: Spare;
}

interface Item {
  readonly turnId: string;
  readonly nonce: string;
  readonly marks: Partial<Record<StreamName, Mark>>;
}

/** Output that waits for the transcript; the pipes are not read beyond it (I149). */
const MAX_PENDING_BYTES = 256 * 1024;
/** Something in the background may hold the pipes of a shell that ended: this long without output is the end of it. */
const EXIT_QUIET_MS = 250;
const EXIT_POLL_MS = 25;

export async function startShell(
  options: ShellOptions,
): Promise<{ readonly kind: "spawned"; readonly shell: ShellProcess } | LaunchFailure> {
  const launched = await spawnOwned({
    command: "bash",
    args: shellArguments,
    env: options.environment,
    cwd: options.directory,
    extraPipes: 1,
    observer: options.observer,
  });
  if (launched.kind === "failed") return launched;
  return { kind: "spawned", shell: new ShellProcess(launched.process, options) };
}

/** One bash under the driver: runs one item at a time and hands its output over as events. */
export class ShellProcess {
  readonly #process: OwnedProcess;
  readonly #commands: Writable;
  readonly #clock: Clock;
  readonly #handlers: ShellHandlers;
  readonly #splitters = { stdout: new MarkSplitter(), stderr: new MarkSplitter() };
  readonly #decoder = new OutputDecoder();
  readonly #open = new Set<StreamName>(["stdout", "stderr"]);
  readonly #spare: Spare;
  #pending: Piece[] = [];
  #pendingBytes = 0;
  #flushing = false;
  #lastOutputAt = 0;
  #item: Item | null = null;

  constructor(process: OwnedProcess, { clock, handlers, spare }: ShellOptions) {
    this.#process = process;
    this.#spare = spare;
    this.#clock = clock;
    this.#handlers = handlers;
    const [commands] = process.pipes;
    invariant(commands, "the shell was started with a pipe for its commands");
    this.#commands = commands;
    for (const name of ["stdout", "stderr"] as const) {
      process[name].on("data", (chunk: Buffer) => this.#take(name, chunk));
      process[name].on("close", () => this.#open.delete(name));
    }
    process.onExit((exit) => void this.#drainAfter(exit));
  }

  get pid(): number {
    return this.#process.identity.pid;
  }

  onExit(callback: () => void): void {
    this.#process.onExit(callback);
  }

  run(item: { readonly turnId: string; readonly nonce: string }, command: string): void {
    invariant(!this.#item, "one item at a time");
    this.#item = { ...item, marks: {} };
    this.#commands.write(encodeItem(command, item.nonce));
  }

  /** To the standard input of whatever runs. */
  write(text: string): void {
    this.#process.stdin.write(text);
  }

  /** A command's interrupt goes to all of the group; what ends the shell does not end what is to be spared (I153). */
  async signalGroup(signal: Signal): Promise<void> {
    await this.#process.signalGroup(signal, signal === "SIGINT" ? undefined : this.#spare);
  }

  /** End of input: an idle shell ends by it. */
  endInput(): void {
    this.#commands.end();
    this.#process.stdin.end();
  }

  #take(stream: StreamName, chunk: Buffer): void {
    const item = this.#item;
    const running = item && !item.marks[stream] ? item : null;
    const { before, mark, after } = this.#splitters[stream].push(chunk, running?.nonce ?? null);
    for (const bytes of before) this.#hold({ stream, bytes, turnId: running?.turnId ?? null });
    for (const bytes of after) this.#hold({ stream, bytes, turnId: null });
    if (mark && item) item.marks[stream] = mark;
    if (this.#pendingBytes > MAX_PENDING_BYTES) this.#eachStream("pause");
    if (this.#flushing) return;
    this.#flushing = true;
    // What this turn of the loop still reads goes into the same events.
    setImmediate(() => void this.#flush());
  }

  #hold(piece: Piece): void {
    this.#lastOutputAt = this.#clock.monotonic();
    this.#pendingBytes += piece.bytes.length;
    const last = this.#pending.at(-1);
    if (last?.stream !== piece.stream || last.turnId !== piece.turnId) this.#pending.push(piece);
    else this.#pending[this.#pending.length - 1] = { ...last, bytes: Buffer.concat([last.bytes, piece.bytes]) };
  }

  async #flush(): Promise<void> {
    while (this.#pending.length > 0) {
      const pieces = this.#pending;
      this.#pending = [];
      this.#pendingBytes = 0;
      await this.#handlers.record(pieces.flatMap((piece) => this.#decoder.decode(piece)));
      this.#eachStream("resume");
    }
    const item = this.#item;
    const { stdout, stderr } = item?.marks ?? {};
    if (item && stdout && stderr) {
      await this.#record(this.#decoder.finish(item.turnId));
      this.#item = null;
      this.#flushing = false;
      if (this.#pending.length > 0) this.#flushAgain();
      this.#handlers.itemEnded(stdout);
    } else this.#flushing = false;
  }

  #flushAgain(): void {
    this.#flushing = true;
    setImmediate(() => void this.#flush());
  }

  async #record(events: readonly EventBody[]): Promise<void> {
    if (events.length > 0) await this.#handlers.record(events);
  }

  #eachStream(call: "pause" | "resume"): void {
    this.#process.stdout[call]();
    this.#process.stderr[call]();
  }

  async #drainAfter(exit: ExitInfo): Promise<void> {
    this.#lastOutputAt = this.#clock.monotonic();
    const isQuiet = (): boolean =>
      !this.#flushing && (this.#open.size === 0 || this.#clock.monotonic() - this.#lastOutputAt > EXIT_QUIET_MS);
    while (!isQuiet()) await new Promise<void>((resolve) => void this.#clock.setTimer(EXIT_POLL_MS, resolve));
    const turnId = this.#item?.turnId ?? null;
    this.#item = null;
    for (const stream of ["stdout", "stderr"] as const) {
      this.#process[stream].destroy();
      for (const bytes of this.#splitters[stream].finish())
        await this.#record(this.#decoder.decode({ stream, bytes, turnId }));
    }
    await this.#record(this.#decoder.finish(turnId));
    this.#handlers.exited(exitCodeOf(exit));
  }
}

/** As a shell reports it: 128 + the number of the signal. */
function exitCodeOf({ status }: ExitInfo): number {
  if (!status) return 1;
  if ("code" in status) return status.code;
  return 128 + (Object.entries(constants.signals).find(([name]) => name === status.signal)?.[1] ?? 0);
}
