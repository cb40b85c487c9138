import type { FileSystem } from "@holdfast/recovery-journal";
import { reasonOf } from "@holdfast/shared-process";
import type { Clock, ExitInfo, GatedProcess, LaunchFailure, ProcessObserver } from "@holdfast/shared-process";
import type { OwnerRecord } from "@holdfast/client/protocol";
import type { Programs } from "../transport/messages.ts";
import { topOwner } from "../transport/owner-files.ts";
import type { SupervisorStart } from "../transport/start-supervisor.ts";
import { verdictOf } from "../transport/verdict.ts";
import { MAX_TRIES, takeTry } from "./successor-tries.ts";

/** `spawned` says how it ends, as far as this worker lives to see it. */
export type Start = (
  start: SupervisorStart,
) => Promise<{ readonly kind: "spawned"; readonly process: Pick<GatedProcess, "onExit" | "unref"> } | LaunchFailure>;

export interface SuccessorOptions {
  readonly home: string;
  readonly clock: Clock;
  readonly observer: ProcessObserver;
  /** One line for the worker's log. */
  readonly say: (text: string) => void;
  readonly fs: FileSystem;
  readonly start: Start;
}

type Judged = { readonly kind: "gone"; readonly record: OwnerRecord } | { readonly kind: "stay"; readonly why: string };

/**
 * What a worker with work in progress does about a supervisor that died: it starts the next one itself, so that the home is served without
 * anybody's command. Which of several becomes the owner, the claim decides.
 */
export class Successor {
  readonly #options: SuccessorOptions;
  #programs: Programs | null = null;
  #said = "";

  constructor(options: SuccessorOptions) {
    this.#options = options;
  }

  /** A supervisor proved itself: its programs are those to start in its place. */
  met(programs: Programs | undefined): void {
    this.#programs = programs ?? this.#programs;
    this.#said = "";
  }

  async look(): Promise<void> {
    try {
      const judged = this.#judge();
      if (judged.kind === "stay") return this.#say(`no supervisor: ${judged.why}; it is waited for`);
      await this.#replace(judged.record);
    } catch (error) {
      // A full disk, or a folder that was taken away: the next look finds it as it is then.
      this.#say(`no supervisor, and none can be started now: ${reasonOf(error)}`);
    }
  }

  /** Only proof of its end counts: one that is silent, or was stopped, is not replaced (I138). */
  #judge(): Judged {
    const { home, observer, fs } = this.#options;
    const top = topOwner(fs, home);
    if (top.kind !== "found") return { kind: "stay", why: "no record that can be read says who owned the home" };
    const { record } = top;
    if (record.phase === "stopped") return { kind: "stay", why: "it was stopped" };
    if (record.phase === "maintenance") return { kind: "stay", why: "the home is being stopped by force" };
    const verdict = verdictOf(observer, record);
    if (verdict.kind === "gone" || verdict.kind === "replaced") return { kind: "gone", record };
    const { pid } = record.identity;
    return {
      kind: "stay",
      why: verdict.kind === "current" ? `process ${pid} lives` : `process ${pid}: ${verdict.why}`,
    };
  }

  async #replace({ epoch, identity }: OwnerRecord): Promise<void> {
    const { home, clock, observer, fs, start } = this.#options;
    const dead = `the supervisor (process ${identity.pid}, epoch ${epoch}) is gone`;
    if (!this.#programs) return this.#say(`${dead}, and it did not say how to start another`);
    const taken = takeTry({ home, fs, clock, bootId: observer.self().bootId });
    if (taken.kind === "wait") return;
    if (taken.kind === "spent")
      return this.#say(
        `${dead}; ${MAX_TRIES} tries in 5 minutes brought no other, so it is waited for: agent daemon start`,
      );
    this.#say(`${dead}; starting another, try ${taken.count} of ${MAX_TRIES}`);
    const started = await start({ home, programs: this.#programs, environment: process.env, successorOf: epoch });
    if (started.kind === "failed") return this.#say(`no other supervisor could be started: ${started.message}`);
    // Status 0 is one that found the home owned, or that ended in its time.
    started.process.onExit((exit) => {
      if (!isOrderly(exit)) this.#say(`the supervisor that was started ended: ${JSON.stringify(exit.status)}`);
    });
    started.process.unref();
  }

  /** Looks come each second: only news is said. */
  #say(text: string): void {
    if (text === this.#said) return;
    this.#said = text;
    this.#options.say(text);
  }
}

const isOrderly = ({ status }: ExitInfo): boolean => status !== null && "code" in status && status.code === 0;
