import { errnoOf, invariant } from "../errors.ts";
import { ExitNotice } from "../exits/notice.ts";
import { watchLifeline } from "../lifeline.ts";
import { isDefunct, parseStat } from "../stat.ts";
import type {
  ExitInfo,
  OpenOptions,
  ProcessHandle,
  ProcessIdentity,
  Signal,
  SignalOptions,
  SignalOutcome,
  Verdict,
} from "../types.ts";
import { isPermitted } from "./observe.ts";
import { DEFUNCT, keepsNumber, NO_SUCH_PID, type Order, unknown } from "./rules.ts";
import { blind, type LinuxDeps, type Sight, signalInTurn } from "./sight.ts";

interface Held {
  /** Of the process's own stat file. */
  readonly fd: number;
  readonly identity: ProcessIdentity;
  readonly options: OpenOptions | undefined;
  /** Of an own child, which Node tells. */
  readonly exits?: ExitNotice;
}

/**
 * A process held by its open `/proc/PID/stat`, which the kernel never lets become another's: looks are certain, also when the
 * number was given away within the same tick. A signal still goes by the number, which leaves a window unless it is an own child.
 */
export class StatHandle implements ProcessHandle {
  readonly identity: ProcessIdentity;
  readonly #deps: LinuxDeps;
  readonly #exits: ExitNotice;
  readonly #isOwnChild: boolean;
  #fd: number | null;
  /** Of an own child that had ended when it was let go: this package does that by itself. */
  #end: Verdict | null = null;

  constructor(deps: LinuxDeps, { fd, identity, options, exits }: Held) {
    this.#deps = deps;
    this.#fd = fd;
    this.identity = identity;
    this.#isOwnChild = exits !== undefined;
    this.#exits = exits ?? new ExitNotice((ended) => this.#watch(options?.lifelinePath ?? null, ended));
  }

  get exited(): Promise<ExitInfo> {
    return this.#exits.exited;
  }

  onExit(callback: (exit: ExitInfo) => void): Disposable {
    return this.#exits.onExit(callback);
  }

  verdict(): Verdict {
    return this.#look().verdict;
  }

  signal(signal: Signal, options?: SignalOptions): SignalOutcome {
    return this.#attempt({ ...options, signal, target: "process" });
  }

  signalGroup(signal: Signal, options?: SignalOptions): SignalOutcome {
    return this.#attempt({ ...options, signal, target: "group" });
  }

  holdsNumber(): boolean {
    return keepsNumber(this.verdict());
  }

  [Symbol.dispose](): void {
    if (this.#fd === null) return;
    this.#exits[Symbol.dispose]();
    const verdict = this.#isOwnChild ? this.verdict() : null;
    if (verdict?.kind === "gone") this.#end = verdict;
    this.#deps.ports.closeFile(this.#fd);
    this.#fd = null;
  }

  #attempt(order: Order): SignalOutcome {
    // Only this process's event loop reaps an own child: what the open file shows holds for the rest of the turn.
    const via = this.#isOwnChild ? "unreaped-child" : "narrow-window";
    return signalInTurn(this.#deps, this.identity.pid, { order, look: () => this.#look(), via });
  }

  #look(): Sight {
    const { ports } = this.#deps;
    if (this.#end !== null) return blind(this.#end);
    invariant(this.#fd !== null, "a handle that was disposed of is not asked");
    // By number, and so before the read, which is the last look before a signal.
    const permitted = isPermitted(ports, this.identity.pid);
    try {
      const parsed = parseStat(ports.readAgain(this.#fd));
      if (parsed.kind === "unparsable") return blind(unknown("unparsable"));
      const { stat } = parsed;
      const verdict = isDefunct(stat) ? DEFUNCT : ({ kind: "current", basis: "handle" } as const);
      return { verdict, permitted, leads: stat.pgrp === stat.pid };
    } catch (error) {
      return blind(errnoOf(error) === "ESRCH" ? NO_SUCH_PID : unknown("denied"));
    }
  }

  #watch(lifelinePath: string | null, ended: (exit: ExitInfo) => void): Disposable {
    const { clock, poller } = this.#deps;
    const open: Disposable[] = [];
    const exit = (): ExitInfo => ({ at: clock.now(), status: null });
    const poll = (): void => {
      open.push(poller.watch(() => (this.verdict().kind === "gone" ? exit() : null), ended));
    };
    const released = (): void => {
      // Descriptors are closed a moment before the end; and who replaced the FIFO has proven nothing of a process that is seen.
      if (this.verdict().kind === "current") poll();
      else ended(exit());
    };
    const lifeline = lifelinePath === null ? null : watchLifeline(lifelinePath, released);
    if (lifeline === null) poll();
    else open.push(lifeline);
    return {
      [Symbol.dispose]: () => {
        for (const one of open.splice(0)) one[Symbol.dispose]();
      },
    };
  }
}
