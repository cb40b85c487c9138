import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { baseEnv, fixture } from "./fixture.ts";
import { type WriterLedger, REMEMBER, type WriterEvent } from "./writer-ledger.ts";

export interface WriterPlan {
  readonly directory: string;
  readonly generation: string;
  readonly seed: number;
  /** Turns of up to four records each; `null`: until it is killed. */
  readonly steps: number | null;
  readonly engine: string;
  /** The longest note. */
  readonly detailBytes?: number;
  /** A flush that it does not make. */
  readonly without?: "fdatasync" | undefined;
}

/** The command of a writer. */
export function writerCommand(plan: WriterPlan): readonly string[] {
  const spec = JSON.stringify({ detailBytes: 1_500, remember: REMEMBER, ...plan });
  return [process.execPath, fixture("writer.mjs"), spec];
}

/** A running writer, whose every word goes to the ledger. */
export class WriterRun {
  readonly pid: number;
  #lines = 0;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #ended: Promise<unknown>;
  readonly #lineCame: (() => void)[] = [];
  #stderr = "";

  constructor(command: readonly string[], ledger: WriterLedger) {
    const [name, ...args] = command;
    this.#child = spawn(name ?? "", args, { env: baseEnv, cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
    this.pid = this.#child.pid ?? 0;
    this.#child.stderr.on("data", (bytes: Buffer) => (this.#stderr += bytes.toString()));
    let text = "";
    this.#child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (text + chunk).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) ledger.take(eventOf(line));
      this.#lines += lines.length;
      for (const wake of this.#lineCame.splice(0)) wake();
    });
    // Only when its end was collected and its pipes were read to theirs.
    this.#ended = once(this.#child, "close");
  }

  /** After it has said so many lines, and a while more: the place in its work at which it is met is anywhere. */
  async reaches(lines: number, moreMs: number): Promise<void> {
    while (this.#lines < lines) {
      const came = new Promise<void>((resolve) => void this.#lineCame.push(resolve));
      await Promise.race([came, this.#ended]);
      if (this.#child.exitCode !== null) throw new Error(`the writer ended by itself: ${this.#stderr}`);
    }
    await delay(moreMs);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Its exit code, or the signal that ended it, when all that it said was read. */
  async ended(): Promise<{ readonly code: number | string; readonly stderr: string }> {
    await this.#ended;
    return { code: this.#child.exitCode ?? this.#child.signalCode ?? "", stderr: this.#stderr };
  }
}

function eventOf(line: string): WriterEvent {
  return JSON.parse(line);
}

/** Runs a writer to its own end. */
export async function runWriter(command: readonly string[], ledger: WriterLedger): Promise<void> {
  const { code, stderr } = await new WriterRun(command, ledger).ended();
  if (code !== 0) throw new Error(`the writer ended by ${code}: ${stderr}`);
}
