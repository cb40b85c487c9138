import { invariant } from "@holdfast/shared-process";
import type { Decision, Effect, Event, State, StateNamed, StopIntent, WorkerProcess } from "./state.ts";

/**
 * What holds after each step, whatever the cells say: asserted in production. A cell that breaks one is a bug of ours, and its step is
 * not taken.
 */
export function assertStep(before: State, event: Event, decision: Decision): void {
  if (decision.kind === "remove") {
    const isOver = before.name === "finalizing" && event.type === "finalized";
    invariant(isOver && isFinal(before.intent), "a registration ends when its stop is finalized (I1, I16)");
    return;
  }
  if (decision.kind !== "move") return;
  const { state: after, effects } = decision;
  assertState(after);
  assertProcess(before, event, after);
  assertEnd(before, event, after);
  assertIntent(before, event, after);
  for (const effect of effects) assertEffect(before, after, effect);
}

/** What a state says about itself. */
export function assertState(state: State): void {
  switch (state.name) {
    case "starting":
      invariant(
        state.due.timer === (state.failure === null ? "start_deadline" : "kill"),
        "a start has a deadline, and a failed one a kill",
      );
      return;
    case "recovering":
      invariant(
        state.phase === "settling"
          ? state.process !== null && (state.due === null || state.due.timer === "settle")
          : state.due?.timer === "relaunch" && state.terminal === null,
        "a recovery settles a dead process, or waits for its relaunch",
      );
      return;
    case "stopping":
      invariant(
        (state.process === null) === (state.phase === "spawning"),
        "only an overtaken spawn has no process yet",
      );
      invariant((state.due === null) === (state.phase === "spawning"), "a stop always has its next step (I1)");
      invariant(
        state.process === null || state.process.generation === state.generation,
        "one generation is stopped (I8)",
      );
      invariant(state.phase !== "granted" || state.graceEndsAt !== null, "a grace has an end");
      return;
    case "finalizing":
      invariant((state.problem === null) === (state.due === null), "a clean-up that failed is tried again (I13)");
      return;
    case "launching":
    case "ready":
    case "reconnecting":
    case "failed":
    case "passivated":
      return;
  }
}

const processOf = (state: State): WorkerProcess | null => ("process" in state ? state.process : null);

/** A registration follows one process until it is over, and never takes up another on the way (I8, I20). */
function assertProcess(before: State, event: Event, after: State): void {
  const [was, is] = [processOf(before), processOf(after)];
  if (is === null) return;
  if (was === null) {
    invariant(event.type === "spawned", "a process comes by its spawn alone");
    return;
  }
  // A person's word is kept with it.
  const isAsserted = event.type === "process_gone" && event.how === "asserted";
  const isSame = isAsserted ? is.generation === was.generation && is.identity === was.identity : is === was;
  invariant(isSame, "the process of a registration does not change under it (I20)");
}

const maybeAlive = ["starting", "ready", "reconnecting", "stopping"] as const;
const mayLive = (state: State): boolean => maybeAlive.some((name) => name === state.name);

/** Whoever leaves a process behind has proof of its end (I16). */
function assertEnd(before: State, event: Event, after: State): void {
  if (!mayLive(before) || mayLive(after)) return;
  const isProven = event.type === "process_gone" || (event.type === "spawn_failed" && processOf(before) === null);
  invariant(isProven, `${before.name} is left only with proof that its process is gone (I16)`);
}

const isFinal = ({ goal }: StopIntent): boolean => goal === "stop" || goal === "archive";
type Ending = StateNamed<"stopping" | "finalizing">;
const endingOf = (state: State): Ending | null =>
  state.name === "stopping" || state.name === "finalizing" ? state : null;

/** A stop beats everything but a person's resume; a changed goal is a new stop (I5, I6, I129). */
function assertIntent(before: State, event: Event, after: State): void {
  const [was, is] = [endingOf(before), endingOf(after)];
  if (was === null) return;
  if (is === null) {
    invariant(!isFinal(was.intent), "a stop is not left before it is finalized (I1, I129)");
    return;
  }
  invariant(is.since === was.since, "a stop counts from its beginning (I112)");
  const isSame = is.intent.goal === was.intent.goal && is.intent.force === was.intent.force;
  invariant(isSame === (is.intent.stopId === was.intent.stopId), "a changed goal has a new stopId (I6)");
  if (event.type === "resume") return;
  invariant(was.intent.goal !== "archive" || is.intent.goal === "archive", "an archive stays one (I130)");
  invariant(!isFinal(was.intent) || isFinal(is.intent), "only a resume rescinds a stop (I129)");
  if (was.name === "stopping" && is.name === "stopping" && was.graceEndsAt !== null)
    invariant(is.graceEndsAt === was.graceEndsAt, "a grace is never renewed");
}

/** Effects are of the state that they were decided with. */
function assertEffect(before: State, after: State, effect: Effect): void {
  if (effect.type === "spawn") {
    const isNew = after.name === "launching" && after.generation === effect.generation;
    invariant(isNew && before.name !== "launching", "a launch spawns once");
    invariant(!mayLive(before), "nothing is launched beside a process that may live (I144)");
    return;
  }
  invariant(effect.process === processOf(after), `${effect.type} is about the process of its state (I20)`);
  if (effect.type === "finalize")
    invariant(after.name === "finalizing" && effect.intent === after.intent, "an end is finalized under its intent");
  if (effect.type === "settle") invariant(after.name === "recovering", "only a recovery is settled");
  if (effect.type === "open_gate") invariant(after.name === "starting", "only what is to run is let through its gate");
  if (effect.type === "signal") assertSignal(after, effect.signal);
}

function assertSignal(after: State, signal: "SIGTERM" | "SIGKILL"): void {
  const isOfStop = after.name === "stopping" && (after.phase === "terminated" || after.phase === "killing");
  const isOfStart = after.name === "starting" && after.failure !== null;
  invariant(isOfStop || isOfStart, "only a stop, or a start that failed, signals");
  invariant(signal === "SIGTERM" || after.name === "starting" || after.phase === "killing", "a SIGKILL comes last");
}
