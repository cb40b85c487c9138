import { beginStop, denyEnvironment, ended, finalize, launch, recover, replaceIntent, startBlank } from "./parts.ts";
import { deny, ignore, late, move, noProcess, noSettle, noSpawn, noTimer, notStopping } from "./rule.ts";
import type { Row } from "./rule.ts";
import { REVOKED_MS, SILENT_KILL_MS } from "./times.ts";
import type { Decision, StateNamed } from "./state.ts";

export const ready: Row<"ready"> = {
  spawned: noSpawn,
  spawn_failed: noSpawn,
  hello: { ignore: "already serving" },
  serving: { ignore: "already serving" },
  start_failed: late,
  channel_closed: ({ process, launches }) =>
    move({ name: "reconnecting", process, launches, due: null }, { type: "connect", process }),
  process_gone: (state, { how }) =>
    how === "asserted" ? deny("session_running", "its worker answers") : recover(state, null),
  settled: noSettle,
  settle_failed: noSettle,
  due: noTimer,
  stop: (state, { intent }, now) => beginStop(state, intent, { now, channel: true }),
  resume: { ignore: "already ready" },
  acknowledged: notStopping,
  progress: { ignore: "of a worker that ends by itself: `closing` said so, or will" },
  busy: notStopping,
  signalled: late,
  finalized: notStopping,
  finalize_failed: notStopping,
  closing: ({ process, launches }, { intent }, now) =>
    move(
      {
        name: "stopping",
        process,
        generation: process.generation,
        launches,
        intent,
        phase: "granted",
        graceEndsAt: now + SILENT_KILL_MS,
        since: now,
        due: { timer: "silence", at: now + REVOKED_MS },
      },
      { type: "watch", process },
    ),
};

export const reconnecting: Row<"reconnecting"> = {
  spawned: noSpawn,
  spawn_failed: noSpawn,
  hello: (state, { phase, fresh }, now) => {
    if (phase === "serving")
      return move({ name: "ready", process: state.process, launches: state.launches, due: null });
    // A blank worker has nothing: it is started, or replaced so that a person is asked for what is missing (I166).
    return fresh.missingEnvironment.length === 0
      ? startBlank(state, now)
      : beginStop(state, replaceIntent(fresh), { now, channel: true });
  },
  serving: late,
  start_failed: late,
  channel_closed: { ignore: "it is being connected" },
  process_gone: (state, event) => recover(ended(state, event), null),
  settled: noSettle,
  settle_failed: noSettle,
  due: noTimer,
  stop: (state, { intent }, now) =>
    intent.goal === "passivate"
      ? deny("session_busy", "the session is recovering")
      : beginStop(state, intent, { now, channel: false }),
  resume: { ignore: "joins the recovery that is under way" },
  acknowledged: notStopping,
  progress: { ignore: "its exit follows" },
  busy: notStopping,
  signalled: late,
  finalized: notStopping,
  finalize_failed: notStopping,
  closing: { ignore: "its exit follows" },
};

/** A `failed` session's last process was proven gone once; it is proven again before anything takes its place. */
function endLast(state: StateNamed<"failed">, intent: StateNamed<"stopping">["intent"], now: number): Decision {
  const { process, launches } = state;
  return process ? beginStop({ process, launches }, intent, { now, channel: false }) : finalize(state, intent, now);
}

export const failed: Row<"failed"> = {
  spawned: noSpawn,
  spawn_failed: noSpawn,
  hello: late,
  serving: late,
  start_failed: late,
  channel_closed: late,
  process_gone: { ignore: "known: it was proven gone" },
  settled: late,
  settle_failed: late,
  due: noTimer,
  stop: (state, { intent }, now) =>
    intent.goal === "passivate" ? deny("session_busy", "the session has failed") : endLast(state, intent, now),
  resume: (state, { fresh }, now) => {
    if (fresh.missingEnvironment.length > 0) return denyEnvironment(fresh);
    return state.process ? endLast({ ...state, launches: [] }, replaceIntent(fresh), now) : launch(fresh, []);
  },
  acknowledged: notStopping,
  progress: late,
  busy: notStopping,
  signalled: late,
  finalized: notStopping,
  finalize_failed: notStopping,
  closing: late,
};

export const passivated: Row<"passivated"> = {
  spawned: noProcess,
  spawn_failed: noProcess,
  hello: noProcess,
  serving: noProcess,
  start_failed: noProcess,
  channel_closed: noProcess,
  process_gone: noProcess,
  settled: noProcess,
  settle_failed: noProcess,
  due: noTimer,
  stop: (_state, { intent }, now) =>
    intent.goal === "passivate"
      ? ignore("already passivated")
      : // Never woken: there is no process to end (I83).
        finalize({ process: null, launches: [] }, intent, now),
  resume: (_state, { by, fresh }) => {
    if (by === "retry") return ignore("nothing failed: the next request activates it");
    return fresh.missingEnvironment.length > 0 ? denyEnvironment(fresh) : launch(fresh, []);
  },
  acknowledged: notStopping,
  progress: noProcess,
  busy: notStopping,
  signalled: late,
  finalized: notStopping,
  finalize_failed: notStopping,
  closing: noProcess,
};
