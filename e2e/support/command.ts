import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { identityOf, isRunning, signal } from "./processes.ts";
import { waitFor } from "./wait-for.ts";

export const agentPath = fileURLToPath(new URL("../../packages/cli/bin/agent.js", import.meta.url));
const TIMEOUT_MS = 25_000;

export interface Result {
  /** 128 + nothing: `null` when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: Buffer;
}

export interface RunOptions {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly timeoutMs?: number;
}

/** A command in a process group of its own, with what it has printed until now. */
export class Running {
  readonly pid: number;
  readonly ended: Promise<Result>;
  readonly #child: ChildProcess;
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];

  constructor(argv: readonly [string, ...string[]], options: RunOptions & { env: Record<string, string> }) {
    const [command, ...args] = argv;
    const child = spawn(command, args, { env: options.env, cwd: options.cwd ?? "/", detached: true, stdio: "pipe" });
    this.#child = child;
    this.pid = child.pid ?? 0;
    child.stdout.on("data", (chunk: Buffer) => this.#stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => this.#stderr.push(chunk));
    // A command that ends without reading its input: its status says what there is to say.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    this.ended = new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve({ code, ...this.texts() }));
    });
  }

  get stdout(): string {
    return Buffer.concat(this.#stdout).toString("utf8");
  }

  get stderr(): string {
    return Buffer.concat(this.#stderr).toString("utf8");
  }

  texts(): { stdout: string; stderr: string; stdoutBytes: Buffer } {
    return { stdout: this.stdout, stderr: this.stderr, stdoutBytes: Buffer.concat(this.#stdout) };
  }

  hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async untilPrinted(text: string, timeoutMs = 10_000): Promise<void> {
    const printed = (): boolean => this.stdout.includes(text) || this.stderr.includes(text);
    await waitFor(printed, `the command prints ${JSON.stringify(text)}`, timeoutMs);
  }

  /** What closing a terminal window does at its worst: the command and its whole group, unasked. */
  killGroup(): void {
    if (!this.hasEnded() && this.pid > 0) process.kill(-this.pid, "SIGKILL");
  }

  signal(name: NodeJS.Signals): void {
    const identity = identityOf(this.pid);
    if (!this.hasEnded() && identity && isRunning(identity)) signal(identity, name);
  }

  /** Its result; a command that hangs is ended and fails the test. */
  async result(timeoutMs = TIMEOUT_MS): Promise<Result> {
    let timer: NodeJS.Timeout | undefined;
    const hang = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        this.killGroup();
        const { stdout, stderr } = this;
        reject(new Error(`still running after ${timeoutMs} ms: ${JSON.stringify({ stdout, stderr })}`));
      }, timeoutMs);
    });
    try {
      return await Promise.race([this.ended, hang]);
    } finally {
      clearTimeout(timer);
    }
  }
}
