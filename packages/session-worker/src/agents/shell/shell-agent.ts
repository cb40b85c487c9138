import { statSync } from "node:fs";
import { invariant, reasonOf } from "@holdfast/shared-process";
import type { Clock, Ids, ProcessObserver, Spare } from "@holdfast/shared-process";
import type { Agent, AgentHost, AgentOrigin, AgentStart, TurnEnd } from "../agent.ts";
import { DRAIN_ITEM } from "./driver.ts";
import { startShell } from "./shell-process.ts";
import type { ShellProcess } from "./shell-process.ts";
import type { Mark } from "./splitter.ts";

export interface ShellAgentOptions {
  /** The whole environment of the commands, the session's marker included. */
  readonly environment: Readonly<Record<string, string>>;
  /** The session's directory. */
  readonly directory: string;
  readonly host: AgentHost;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Identifies the shell. */
  readonly observer: ProcessObserver;
  /** What a signal to the shell's group leaves alone. */
  readonly spare: Spare;
}

interface Turn {
  readonly turnId: string;
  /** Given before the command was sent. */
  readonly early: string[];
  sent: boolean;
  sentAt: number;
  cancels: number;
  steered: boolean;
  /** The command is over; what it left of its input is being thrown away. */
  over: Mark | null;
}

/** Time that an interrupted command has before its shell is killed. */
const CANCEL_GRACE_MS = 2_000;
/** The loop of the shell needs a moment to take a command; SIGINT before that would find nothing to interrupt. */
const READ_MS = 100;
/** SIGKILL takes effect in milliseconds; what takes longer is stuck in the kernel and no reason to wait. */
const KILL_WAIT_MS = 500;

/** bash on pipes: each prompt is a command, variables and directory stay, its status ends the turn (DESIGN §6). */
export class ShellAgent implements Agent {
  readonly #options: ShellAgentOptions;
  #shell: ShellProcess | null = null;
  #turn: Turn | null = null;
  #directory: string;
  #starting: Promise<AgentStart> | null = null;
  #ending = false;

  constructor(options: ShellAgentOptions) {
    this.#options = options;
    this.#directory = options.directory;
  }

  get pid(): number | null {
    return this.#shell?.pid ?? null;
  }

  async start({ restored, lastDirectory }: AgentOrigin): Promise<AgentStart> {
    const { directory } = this.#options;
    if (!isDirectory(directory))
      return { kind: "failed", terminal: true, reason: `working directory ${directory} is missing` };
    this.#directory = lastDirectory !== null && isDirectory(lastDirectory) ? lastDirectory : directory;
    return this.#launch(restored);
  }

  #launch(anew: boolean): Promise<AgentStart> {
    this.#starting ??= this.#launchNow(anew).finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  async #launchNow(anew: boolean): Promise<AgentStart> {
    const { environment, clock, host, observer, spare } = this.#options;
    const directory = isDirectory(this.#directory) ? this.#directory : this.#options.directory;
    const started = await startShell({
      environment,
      directory,
      clock,
      observer,
      spare,
      handlers: {
        record: (events) => host.record(events),
        itemEnded: (mark) => this.#itemEnded(mark),
        exited: (exitCode) => this.#exited(exitCode),
      },
    });
    if (started.kind === "failed") {
      const terminal = started.code !== "too_many_open_files" && started.code !== "identity_unreadable";
      const missing = isDirectory(directory) ? started.message : `working directory ${directory} is missing`;
      return { kind: "failed", terminal, reason: missing };
    }
    this.#shell = started.shell;
    this.#directory = directory;
    const notice = `a new shell started in ${directory}; variables are lost`;
    if (anew) await host.record([{ type: "restored", by: "fresh", notice }]);
    return { kind: "started" };
  }

  run(turnId: string, text: string): void {
    invariant(!this.#turn, "one turn at a time");
    const turn: Turn = { turnId, early: [], sent: false, sentAt: 0, cancels: 0, steered: false, over: null };
    this.#turn = turn;
    void this.#begin(turn, text).catch((error: unknown) => this.#fail(turn, reasonOf(error)));
  }

  async #begin(turn: Turn, text: string): Promise<void> {
    if (!this.#shell) {
      const started = await this.#launch(true);
      if (started.kind === "failed") return this.#fail(turn, started.reason);
    }
    const shell = this.#shell;
    if (this.#turn !== turn) return;
    if (!shell) return this.#fail(turn, "the shell ended at once");
    if (turn.cancels > 0 || this.#ending) return this.#end({ stopReason: "cancelled", cwd: this.#directory });
    turn.sent = true;
    turn.sentAt = this.#options.clock.monotonic();
    // An empty item has a meaning of its own.
    shell.run({ turnId: turn.turnId, nonce: this.#options.ids.newToken(18) }, text === "" ? " " : text);
    for (const early of turn.early) this.#steer(turn, early);
  }

  #fail(turn: Turn, reason: string): void {
    if (this.#turn !== turn) return;
    const text = `${reason}\n`;
    void this.#options.host
      .record([{ type: "output", stream: "stderr", text, turnId: turn.turnId }])
      .finally(() => this.#end({ stopReason: "failed" }));
  }

  inject(turnId: string, text: string): boolean {
    const turn = this.#turn;
    if (turn?.turnId !== turnId || turn.over) return false;
    if (turn.sent) this.#steer(turn, text);
    else turn.early.push(text);
    return true;
  }

  #steer(turn: Turn, text: string): void {
    turn.steered = true;
    this.#shell?.write(`${text}\n`);
  }

  cancel(turnId: string): void {
    const turn = this.#turn;
    if (turn?.turnId !== turnId) return;
    turn.cancels += 1;
    // Before the command was sent there is nothing to interrupt: `#begin` looks.
    if (!turn.sent) return;
    if (turn.cancels > 1) return this.#kill(turn);
    const { clock } = this.#options;
    const delayMs = Math.max(0, turn.sentAt + READ_MS - clock.monotonic());
    clock.setTimer(delayMs, () => this.#signal(turn, "SIGINT"));
    clock.setTimer(delayMs + CANCEL_GRACE_MS, () => this.#kill(turn));
  }

  #signal(turn: Turn, signal: "SIGINT" | "SIGKILL"): void {
    if (this.#turn === turn) void this.#shell?.signalGroup(signal);
  }

  #kill(turn: Turn): void {
    this.#signal(turn, "SIGKILL");
  }

  #itemEnded(mark: Mark): void {
    const turn = this.#turn;
    invariant(turn, "an item belongs to a turn");
    if (turn.steered && !turn.over) {
      // What was not read must not become the next command's input.
      turn.over = mark;
      this.#shell?.run({ turnId: turn.turnId, nonce: this.#options.ids.newToken(18) }, DRAIN_ITEM);
      return;
    }
    const { status, directory } = turn.over ?? mark;
    if (directory !== "") this.#directory = directory;
    this.#end(endOf(turn, status, this.#directory));
  }

  #exited(exitCode: number): void {
    this.#shell = null;
    const turn = this.#turn;
    // An idle shell that ended is replaced when the next turn needs one.
    if (!turn) return;
    if (turn.cancels === 0) this.#directory = this.#options.directory;
    if (!this.#ending) void this.#launch(true);
    this.#end(endOf(turn, turn.over?.status ?? exitCode, this.#directory));
  }

  #end(end: TurnEnd): void {
    const turn = this.#turn;
    this.#turn = null;
    if (turn) this.#options.host.ended(turn.turnId, end);
  }

  async end(graceMs: number): Promise<void> {
    this.#ending = true;
    await this.#starting;
    const shell = this.#shell;
    if (!shell) return;
    shell.endInput();
    await shell.signalGroup("SIGTERM");
    if (await this.#endsWithin(shell, graceMs)) return;
    await shell.signalGroup("SIGKILL");
    await this.#endsWithin(shell, KILL_WAIT_MS);
  }

  #endsWithin(shell: ShellProcess, delayMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.setTimer(delayMs, () => resolve(false));
      shell.onExit(() => {
        timer[Symbol.dispose]();
        resolve(true);
      });
    });
  }
}

const endOf = ({ cancels }: Turn, exitCode: number, cwd: string): TurnEnd =>
  cancels > 0 ? { stopReason: "cancelled", cwd } : { stopReason: "end_turn", exitCode, cwd };

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
