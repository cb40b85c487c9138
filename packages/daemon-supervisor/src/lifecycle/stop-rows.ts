import {
  answerDue,
  denyEnvironment,
  ended,
  finalize,
  killDelay,
  mergeIntents,
  replaceIntent,
  waitOrFail,
} from "./parts.ts";
import { ignore, late, move, noSettle, noSpawn } from "./rule.ts";
import type { Row } from "./rule.ts";
import type { Decision, Millis, StateNamed, StopIntent } from "./state.ts";
import {
  CLEAN_UP_RETRY_MS,
  DISCARD_KILL_MS,
  FORCED_KILL_MS,
  GRACE_MARGIN_MS,
  KILL_RETRY_MS,
  REVOKED_KILL_MS,
  REVOKED_MS,
} from "./times.ts";

/** What a granted grace waits for: its end, or a silence that revokes it. */
const graceDue = (graceEndsAt: Millis, now: Millis): StateNamed<"stopping">["due"] =>
  graceEndsAt <= now + REVOKED_MS ? { timer: "kill", at: graceEndsAt } : { timer: "silence", at: now + REVOKED_MS };

/** The same process ends by the same rules under a new goal; its worker hears of it, and no grace is renewed. */
function changeGoal(state: StateNamed<"stopping">, intent: StopIntent, now: Millis): Decision {
  const { process } = state;
  if (!process) return move({ ...state, intent });
  if (intent.force && !state.intent.force && state.phase !== "killing") {
    const due = { timer: "kill", at: now + FORCED_KILL_MS } as const;
    return move(
      { ...state, intent, phase: "terminated", due },
      { type: "signal", process, signal: "SIGTERM", stopId: intent.stopId },
    );
  }
  const due = state.phase === "asked" ? answerDue(intent, now) : state.due;
  return move({ ...state, intent, due }, { type: "ask_stop", process, intent });
}

const spawnAnswered = ignore("its spawn has answered");

export const stopping: Row<"stopping"> = {
  spawned: (state, { process }, now) =>
    state.process === null
      ? move(
          { ...state, process, phase: "terminated", due: { timer: "kill", at: now + DISCARD_KILL_MS } },
          { type: "discard", process },
          { type: "watch", process },
        )
      : spawnAnswered,
  spawn_failed: (state) => (state.process === null ? finalize(state, state.intent, state.since) : spawnAnswered),
  hello: (state, _event, now) => {
    // A successor found the intent and has reached the worker: it is asked, also when it was taken for silent before (I23).
    const { process, intent, phase } = state;
    if (!process || phase === "granted") return ignore("its stop is under way");
    const due = phase === "asked" ? answerDue(intent, now) : state.due;
    return move({ ...state, due }, { type: "ask_stop", process, intent });
  },
  serving: late,
  start_failed: late,
  channel_closed: { ignore: "its exit or the timer follows" },
  process_gone: (state, event) => finalize(ended(state, event), state.intent, state.since),
  settled: noSettle,
  settle_failed: noSettle,
  due: (state, { timer }, now) => {
    const { process, intent } = state;
    if (!process) return ignore("there is no process yet");
    const terminate = { type: "signal", process, signal: "SIGTERM", stopId: intent.stopId } as const;
    if (timer === "silence" && state.phase === "granted")
      return move({ ...state, phase: "terminated", due: { timer: "kill", at: now + REVOKED_KILL_MS } }, terminate);
    // Passivation is conditional: a worker that does not answer is left as it is.
    if (timer === "silence" && intent.goal === "passivate" && !intent.force)
      return move(
        { name: "reconnecting", process, launches: state.launches, due: null },
        { type: "connect", process },
        { type: "watch", process },
      );
    return timer === "silence"
      ? move({ ...state, phase: "terminated", due: { timer: "kill", at: now + killDelay(intent) } }, terminate)
      : move(
          { ...state, phase: "killing", due: { timer: "kill", at: now + KILL_RETRY_MS } },
          { type: "signal", process, signal: "SIGKILL", stopId: intent.stopId },
        );
  },
  stop: (state, { intent }, now) => {
    const merge = mergeIntents(state.intent, intent);
    return merge.kind === "joined" ? ignore("joins the stop that is under way") : changeGoal(state, merge.intent, now);
  },
  resume: (state, { fresh }, now) => {
    if (state.intent.goal === "replace") return ignore("joins the replacement that is under way");
    if (fresh.missingEnvironment.length > 0) return denyEnvironment(fresh);
    return changeGoal({ ...state, launches: [] }, replaceIntent(fresh), now);
  },
  acknowledged: (state, { graceMs }, now) => {
    if (state.phase !== "asked") return ignore("its grace is granted already, or the time for one is over");
    // Counted from the first request: asking again under another goal buys no time.
    const graceEndsAt = state.graceEndsAt ?? now + graceMs + GRACE_MARGIN_MS;
    return move({ ...state, phase: "granted", graceEndsAt, due: graceDue(graceEndsAt, now) });
  },
  progress: (state, _event, now) =>
    state.phase === "granted" && state.graceEndsAt !== null
      ? move({ ...state, due: graceDue(state.graceEndsAt, now) })
      : ignore("its grace is over"),
  busy: (state) =>
    state.phase === "asked" && state.process && state.intent.goal === "passivate"
      ? move({ name: "ready", process: state.process, launches: state.launches, due: null })
      : ignore("it has been told to end"),
  signalled: { ignore: "the kill timer tries again until the process is gone (I19)" },
  finalized: { impossible: "nothing is finalized before the process is gone" },
  finalize_failed: { impossible: "nothing is finalized before the process is gone" },
  closing: { ignore: "its stop is under way" },
};

export const finalizing: Row<"finalizing"> = {
  spawned: noSpawn,
  spawn_failed: noSpawn,
  hello: late,
  serving: late,
  start_failed: late,
  channel_closed: late,
  process_gone: { ignore: "known: this is its clean-up" },
  settled: late,
  settle_failed: late,
  due: (state) => finalize(state, state.intent, state.since),
  stop: (state, { intent }) => {
    const merge = mergeIntents(state.intent, intent);
    return merge.kind === "joined"
      ? ignore("joins the clean-up that is under way")
      : finalize(state, merge.intent, state.since);
  },
  resume: (state, { fresh }) => {
    if (state.intent.goal === "replace") return ignore("joins the replacement that is under way");
    if (fresh.missingEnvironment.length > 0) return denyEnvironment(fresh);
    return finalize({ ...state, launches: [] }, replaceIntent(fresh), state.since);
  },
  acknowledged: late,
  progress: late,
  busy: late,
  signalled: late,
  finalized: ({ intent: { goal }, launches }, { fresh }, now) => {
    if (goal === "passivate") return move({ name: "passivated", due: null });
    if (goal !== "replace") return { kind: "remove" };
    // A replacement is a relaunch like any other and counts as one (I154); a person's resume has emptied the count.
    return waitOrFail({ process: null, launches, terminal: null }, fresh, now);
  },
  finalize_failed: (state, { reason }, now) =>
    move({ ...state, problem: reason, due: { timer: "finalize", at: now + CLEAN_UP_RETRY_MS } }),
  closing: late,
};
