import {
  beginStop,
  denyEnvironment,
  ended,
  environmentReason,
  finalize,
  launch,
  recover,
  replaceIntent,
  startBlank,
  waitOrFail,
} from "./parts.ts";
import { deny, ignore, late, move, noSettle, noSpawn, noTimer, notAsked, notStopping } from "./rule.ts";
import type { Row } from "./rule.ts";
import { KILL_RETRY_MS, RESOURCE_RETRY_MS, START_DEADLINE_MS, START_FAILED_KILL_MS } from "./times.ts";

const joins = { ignore: "joins the launch that is under way" } as const;

export const launching: Row<"launching"> = {
  spawned: (state, { process }, now) =>
    move(
      {
        name: "starting",
        process,
        launches: state.launches,
        failure: null,
        due: { timer: "start_deadline", at: now + START_DEADLINE_MS },
      },
      { type: "open_gate", process },
      { type: "connect", process },
    ),
  spawn_failed: ({ launches }, { terminal, reason, code, fresh }, now) => {
    if (code === null)
      return waitOrFail({ process: null, launches, terminal: terminal ? reason : null, why: reason }, fresh, now);
    const due = { timer: "relaunch", at: now + RESOURCE_RETRY_MS } as const;
    // Nothing was launched: this try does not count.
    const spent = launches.slice(0, -1);
    const cause = { code, reason };
    return move({ name: "recovering", process: null, launches: spent, phase: "waiting", terminal: null, cause, due });
  },
  hello: notAsked,
  serving: notAsked,
  start_failed: notAsked,
  channel_closed: notAsked,
  process_gone: { impossible: "the spawn answers before its process is watched" },
  settled: noSettle,
  settle_failed: noSettle,
  due: noTimer,
  stop: (state, { intent }, now) =>
    intent.goal === "passivate"
      ? deny("session_busy", "the session is starting")
      : move({
          name: "stopping",
          process: null,
          generation: state.generation,
          launches: state.launches,
          intent,
          phase: "spawning",
          graceEndsAt: null,
          since: now,
          due: null,
        }),
  resume: joins,
  acknowledged: notStopping,
  progress: notAsked,
  busy: notStopping,
  signalled: late,
  finalized: notStopping,
  finalize_failed: notStopping,
  closing: notAsked,
};

export const starting: Row<"starting"> = {
  spawned: noSpawn,
  spawn_failed: noSpawn,
  hello: (state, { phase }, now) =>
    phase === "serving"
      ? move({ name: "ready", process: state.process, launches: state.launches, due: null })
      : state.failure
        ? ignore("it said that it cannot start")
        : startBlank(state, now),
  serving: ({ process, launches }) => move({ name: "ready", process, launches, due: null }),
  start_failed: (state, { terminal, reason }, now) =>
    move(
      { ...state, failure: { terminal, reason }, due: { timer: "kill", at: now + START_FAILED_KILL_MS } },
      { type: "signal", process: state.process, signal: "SIGTERM", stopId: state.process.generation },
      { type: "watch", process: state.process },
    ),
  channel_closed: (state) => move(state, { type: "connect", process: state.process }),
  process_gone: (state, event) => recover(ended(state, event), state.failure?.terminal ? state.failure.reason : null),
  settled: noSettle,
  settle_failed: noSettle,
  due: (state, { timer, fresh }, now) =>
    timer === "start_deadline"
      ? beginStop(state, replaceIntent(fresh), { now, channel: false })
      : move(
          { ...state, due: { timer: "kill", at: now + KILL_RETRY_MS } },
          { type: "signal", process: state.process, signal: "SIGKILL", stopId: state.process.generation },
        ),
  stop: (state, { intent }, now) =>
    intent.goal === "passivate"
      ? deny("session_busy", "the session is starting")
      : beginStop(state, intent, { now, channel: false }),
  resume: joins,
  acknowledged: notStopping,
  progress: late,
  busy: notStopping,
  signalled: { ignore: "its timer tries again until the process is gone" },
  finalized: notStopping,
  finalize_failed: notStopping,
  closing: { ignore: "its exit follows" },
};

export const recovering: Row<"recovering"> = {
  spawned: noSpawn,
  spawn_failed: noSpawn,
  hello: late,
  serving: late,
  start_failed: late,
  channel_closed: late,
  process_gone: { ignore: "known: this is its recovery" },
  settled: (state, { fresh }, now) =>
    state.phase === "settling" ? waitOrFail(state, fresh, now) : ignore("it is settled already"),
  settle_failed: (state, { terminal, reason }, now) => {
    if (state.phase !== "settling") return ignore("it is settled already");
    const { process, launches } = state;
    return terminal
      ? move({ name: "failed", process, launches, reason, code: "session_failed", due: null })
      : move({ ...state, problem: reason, due: { timer: "settle", at: now + KILL_RETRY_MS } });
  },
  due: (state, { timer, fresh }, now) => {
    if (timer === "settle")
      return state.process
        ? move({ ...state, due: null }, { type: "settle", process: state.process })
        : ignore("nothing is left to settle");
    if (fresh.missingEnvironment.length > 0) {
      const reason = environmentReason(fresh.missingEnvironment);
      const { process, launches } = state;
      return move({ name: "failed", process, launches, reason, code: "needs_fresh_environment", due: null });
    }
    return launch(fresh, [...state.launches, { bootId: fresh.bootId, at: now }]);
  },
  stop: (state, { intent }, now) =>
    intent.goal === "passivate" ? deny("session_busy", "the session is recovering") : finalize(state, intent, now),
  resume: (state, { by, fresh }) => {
    if (by === "resume") return ignore("joins the recovery that is under way");
    // What the last worker left is ended first; then it is launched with the shortest delay, also when the budget was spent.
    if (state.phase === "settling") return move({ ...state, launches: [] });
    // An operator's launch is none of the automatic ones: the budget stays as it is.
    return fresh.missingEnvironment.length > 0 ? denyEnvironment(fresh) : launch(fresh, state.launches);
  },
  acknowledged: notStopping,
  progress: late,
  busy: notStopping,
  signalled: late,
  finalized: notStopping,
  finalize_failed: notStopping,
  closing: late,
};
