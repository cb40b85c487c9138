import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { durableShape } from "./durable.ts";
import { generationOf, reduce } from "./reduce.ts";
import type { Reduced } from "./reduce.ts";
import { freshOf, intentOf, processOf, sampleEvents, sampleStates, signalsOf } from "./samples.testing.ts";
import { stateNames } from "./state.ts";
import type { Effect, Event, EventType, State } from "./state.ts";
import { transitions } from "./transitions.ts";

const isEventType = (text: string): text is EventType => Object.hasOwn(sampleEvents, text);
const eventTypes = Object.keys(sampleEvents).filter(isEventType);
const NOW = 100;

/** Every state × every event that fits it, cells that are impossible left out. */
const possible: { state: State; event: Event; decision: Reduced }[] = stateNames.flatMap((name) =>
  sampleStates[name].flatMap((state: State) =>
    eventTypes
      .filter((type) => !("impossible" in transitions[name][type]))
      .flatMap((type): readonly Event[] => sampleEvents[type](state))
      .map((event) => ({ state, event, decision: reduce(state, event, NOW) })),
  ),
);

const moves = possible.flatMap(({ decision }) => (decision.kind === "move" ? [decision] : []));

const moved = (decision: Reduced): { state: State; effects: readonly Effect[] } => {
  if (decision.kind !== "move") throw new Error(`expected a move, got ${JSON.stringify(decision)}`);
  return decision;
};

const silence = (at: number) => ({ type: "due", timer: "silence", at, fresh: freshOf("f") }) as const;

describe("every cell", () => {
  it("has a rule for each of 9 states and 19 events", () => {
    expect(stateNames).toHaveLength(9);
    for (const name of stateNames) expect(Object.keys(transitions[name]).toSorted()).toEqual(eventTypes.toSorted());
  });

  it("says why where it does nothing", () => {
    const rules = stateNames.flatMap((name) => eventTypes.map((type): object => transitions[name][type]));
    const reasons = rules.filter((rule) => typeof rule !== "function").map((rule) => Object.values(rule).join(" "));
    expect(reasons.length).toBeGreaterThan(80);
    expect(reasons.filter((reason) => reason.length < 10)).toEqual([]);
  });

  it("throws where it is impossible", () => {
    const state = sampleStates.ready[0]!;
    expect(() => reduce(state, { type: "spawned", generation: "g", process: processOf("g") }, NOW)).toThrow(
      /impossible/,
    );
  });

  it.each([
    ["another generation", { type: "process_gone", generation: "old", how: "gone" }],
    ["another stop", { type: "finalized", stopId: "old", fresh: freshOf("f") }],
    ["another timer", { type: "due", timer: "kill", at: 9, fresh: freshOf("f") }],
  ] as const)("I62 drops what answers for %s, in every state", (why, event) => {
    for (const name of stateNames)
      for (const state of sampleStates[name]) expect(reduce(state, event, NOW)).toEqual({ kind: "stale", why });
  });

  it("I8 I20 gives effects only for the state's own process", () => {
    const strangers = moves.flatMap(({ state, effects }) =>
      effects.filter(
        (effect) => "process" in effect && effect.process?.generation !== (generationOf(state) ?? undefined),
      ),
    );
    expect(strangers.filter((effect) => !("process" in effect) || effect.process !== null)).toEqual([]);
    const spawning = moves.filter(({ effects }) => effects.some(({ type }) => type === "spawn"));
    expect(new Set(spawning.map(({ state }) => state.name))).toEqual(new Set(["launching"]));
  });

  it("I4 I16 signals only what is starting or stopping", () => {
    const signalling = moves.filter(({ effects }) => signalsOf(effects).length > 0);
    expect(new Set(signalling.map(({ state }) => state.name))).toEqual(new Set(["starting", "stopping"]));
  });

  it("I82 leaves passivated without a descriptor", () => {
    const shapes = moves.filter(({ state }) => state.name === "passivated").map(({ state }) => durableShape(state));
    expect(shapes.length).toBeGreaterThan(0);
    expect(shapes.filter(({ descriptor, wanted }) => descriptor !== "none" || wanted !== "passive")).toEqual([]);
  });

  it("I1 every state of a stop waits for a timer, a spawn or a clean-up: none is an end", () => {
    const stops = moves.flatMap(({ state }) => (state.name === "stopping" ? [state] : []));
    expect(stops.length).toBeGreaterThan(0);
    expect(stops.filter(({ due, phase }) => due === null && phase !== "spawning")).toEqual([]);
  });
});

describe("a stop", () => {
  const ready = sampleStates.ready[0]!;
  const asked = moved(reduce(ready, { type: "stop", intent: intentOf("stop") }, 0));

  it("I4 asks first and signals nothing", () => {
    expect(asked.effects.map(({ type }) => type)).toEqual(["ask_stop", "watch"]);
    expect(asked.state).toMatchObject({ name: "stopping", phase: "asked", due: { timer: "silence", at: 1_000 } });
  });

  it("I2 I128 of a silent worker sends SIGTERM after 1 s and SIGKILL 7 s after the request", () => {
    const terminated = moved(reduce(asked.state, silence(1_000), 1_000));
    expect(signalsOf(terminated.effects)).toEqual(["SIGTERM"]);
    expect(terminated.state.due).toEqual({ timer: "kill", at: 7_000 });
    const killing = moved(
      reduce(terminated.state, { type: "due", timer: "kill", at: 7_000, fresh: freshOf("f") }, 7_000),
    );
    expect(signalsOf(killing.effects)).toEqual(["SIGKILL"]);
    expect(killing.state.due).toEqual({ timer: "kill", at: 8_000 });
  });

  it("I2 kills one second after the acknowledged grace", () => {
    const granted = moved(reduce(asked.state, { type: "acknowledged", stopId: "s", graceMs: 1_000 }, 200));
    expect(granted.state).toMatchObject({ phase: "granted", due: { timer: "kill", at: 2_200 } });
  });

  it("I19 keeps the kill armed when the signal could not be sent", () => {
    const killing = sampleStates.stopping.find(({ phase }) => phase === "killing")!;
    const refused = reduce(killing, { type: "signalled", stopId: "s", signal: "SIGKILL", sent: false }, NOW);
    expect(refused.kind).toBe("ignore");
    expect(killing.due).toEqual({ timer: "kill", at: 10 });
  });

  it("I5 I6 is rescinded by a resume under a new stopId, and the process still ends", () => {
    const replaced = moved(reduce(asked.state, { type: "resume", by: "resume", fresh: freshOf("f") }, 100));
    expect(replaced.state).toMatchObject({ name: "stopping", intent: { goal: "replace", stopId: "stop-f" } });
    expect(reduce(replaced.state, { type: "finalized", stopId: "s", fresh: freshOf("f") }, 200).kind).toBe("stale");
    const finalizing = moved(reduce(replaced.state, { type: "process_gone", generation: "g", how: "gone" }, 300));
    const recovering = moved(
      reduce(finalizing.state, { type: "finalized", stopId: "stop-f", fresh: freshOf("f") }, 400),
    );
    expect(recovering.state).toMatchObject({ name: "recovering", process: null, due: { timer: "relaunch", at: 650 } });
  });

  it("I28 archives once: archive is sticky and a weaker stop joins", () => {
    const archive = moved(reduce(ready, { type: "stop", intent: intentOf("archive") }, 0));
    expect(reduce(archive.state, { type: "stop", intent: intentOf("stop", "other") }, 1).kind).toBe("ignore");
  });

  it("escalates the same generation when force comes second", () => {
    const forced = moved(reduce(asked.state, { type: "stop", intent: intentOf("stop", "other", true) }, 100));
    expect(signalsOf(forced.effects)).toEqual(["SIGTERM"]);
    expect(forced.state.due).toEqual({ timer: "kill", at: 600 });
  });

  describe("with a grace of 15 s", () => {
    const acknowledged = { type: "acknowledged", stopId: "s", graceMs: 15_000 } as const;
    const granted = moved(reduce(asked.state, acknowledged, 100));

    it("is revoked after 3 s without a word: SIGTERM at once, SIGKILL 5 s later", () => {
      expect(granted.state.due).toEqual({ timer: "silence", at: 3_100 });
      const revoked = moved(reduce(granted.state, silence(3_100), 3_100));
      expect(signalsOf(revoked.effects)).toEqual(["SIGTERM"]);
      expect(revoked.state).toMatchObject({ phase: "terminated", due: { timer: "kill", at: 8_100 } });
      expect(reduce(revoked.state, { type: "progress", generation: "g" }, 3_200).kind).toBe("ignore");
    });

    it("I2 is kept while the worker reports, and used up all the same: SIGKILL at once", () => {
      let { state } = granted;
      for (let now = 1_000; now < 16_100; now += 1_000)
        ({ state } = moved(reduce(state, { type: "progress", generation: "g" }, now)));
      expect(state.due).toEqual({ timer: "kill", at: 16_100 });
      const killing = moved(reduce(state, { type: "due", timer: "kill", at: 16_100, fresh: freshOf("f") }, 16_100));
      expect(signalsOf(killing.effects)).toEqual(["SIGKILL"]);
    });

    it("is not renewed by a changed goal, of which the worker is told", () => {
      const archive = moved(reduce(granted.state, { type: "stop", intent: intentOf("archive", "t") }, 5_000));
      expect(archive.effects.map(({ type }) => type)).toEqual(["ask_stop"]);
      const again = reduce(archive.state, { ...acknowledged, stopId: "t" }, 5_010);
      expect([again.kind, archive.state]).toMatchObject(["ignore", { graceEndsAt: 16_100 }]);
    });
  });

  it("that overtakes a spawn never opens its gate", () => {
    const stopping = moved(reduce(sampleStates.launching[0]!, { type: "stop", intent: intentOf("stop") }, 0));
    const discarded = moved(reduce(stopping.state, { type: "spawned", generation: "g", process: processOf("g") }, 10));
    expect(discarded.effects.map(({ type }) => type)).toEqual(["discard", "watch"]);
  });

  it("I83 of a passivated session wakes and probes nothing", () => {
    const { effects } = moved(reduce({ name: "passivated", due: null }, { type: "stop", intent: intentOf("stop") }, 0));
    expect(effects).toEqual([{ type: "finalize", process: null, intent: intentOf("stop") }]);
  });
});

describe("a passivation", () => {
  const asked = moved(reduce(sampleStates.ready[0]!, { type: "stop", intent: intentOf("passivate") }, 0));

  it("of a worker that does not answer leaves it as it is, and signals nothing", () => {
    const { state, effects } = moved(reduce(asked.state, silence(5_000), 5_000));
    expect([state.name, effects.map(({ type }) => type)]).toEqual(["reconnecting", ["connect", "watch"]]);
  });

  it("by force ends it like any stop", () => {
    const forced = moved(reduce(sampleStates.ready[0]!, { type: "stop", intent: intentOf("passivate", "s", true) }, 0));
    expect(signalsOf(forced.effects)).toEqual(["SIGTERM"]);
  });
});

describe("recovery", () => {
  it("I154 counts replacements that nobody asked for: a worker that never serves is given up", () => {
    let state: State = { name: "launching", generation: "g", launches: [], due: null };
    let now = 0;
    let rounds = 0;
    while (state.name !== "failed" && rounds < 20) {
      rounds += 1;
      state = moved(reduce(state, { type: "spawned", generation: "g", process: processOf("g") }, now)).state;
      now += 30_000;
      state = moved(reduce(state, { type: "due", timer: "start_deadline", at: now, fresh: freshOf("g") }, now)).state;
      state = moved(reduce(state, { type: "process_gone", generation: "g", how: "gone" }, now)).state;
      const finalized = { type: "finalized", stopId: "stop-g", fresh: freshOf("g") } as const;
      state = moved(reduce(state, finalized, now)).state;
      if (state.name !== "recovering" || !state.due) continue;
      now = state.due.at;
      state = moved(reduce(state, { type: "due", timer: "relaunch", at: now, fresh: freshOf("g") }, now)).state;
    }
    expect([state.name, rounds]).toEqual(["failed", 6]);
  });

  it("I154 backs off and gives up after five relaunches in five minutes", () => {
    let state: State = { name: "ready", process: processOf("g"), launches: [], due: null };
    const delays: number[] = [];
    let now = 0;
    for (;;) {
      state = moved(reduce(state, { type: "process_gone", generation: "g", how: "gone" }, now)).state;
      state = moved(reduce(state, { type: "settled", generation: "g", fresh: freshOf("g") }, now)).state;
      if (state.name !== "recovering" || !state.due) break;
      delays.push(state.due.at - now);
      now = state.due.at;
      state = moved(reduce(state, { type: "due", timer: "relaunch", at: now, fresh: freshOf("g") }, now)).state;
      state = moved(reduce(state, { type: "spawned", generation: "g", process: processOf("g") }, now)).state;
      state = moved(reduce(state, { type: "serving", generation: "g" }, now)).state;
    }
    expect(delays).toEqual([250, 1_000, 5_000, 5_000, 5_000]);
    expect(state).toMatchObject({ name: "failed", code: "session_failed" });
  });

  it("I155 tries a launch that found no descriptors again, for ever, without spending the budget", () => {
    const used = {
      type: "spawn_failed",
      generation: "g",
      terminal: false,
      reason: "none left",
      fresh: freshOf("g"),
    } as const;
    let state: State = { name: "launching", generation: "g", launches: [], due: null };
    let now = 0;
    for (let round = 0; round < 20; round += 1) {
      state = moved(reduce(state, { ...used, code: "too_many_open_files" }, now)).state;
      expect(state).toMatchObject({ name: "recovering", launches: [], cause: { code: "too_many_open_files" } });
      now = state.due?.at ?? now;
      state = moved(reduce(state, { type: "due", timer: "relaunch", at: now, fresh: freshOf("g") }, now)).state;
    }
  });

  it("I59 waits for a person when values of its environment are nowhere", () => {
    const settling = sampleStates.recovering[0]!;
    const { state } = moved(reduce(settling, { type: "settled", generation: "g", fresh: freshOf("f", ["KEY"]) }, NOW));
    expect(state).toMatchObject({ name: "failed", code: "needs_fresh_environment" });
    expect(reduce(state, { type: "resume", by: "resume", fresh: freshOf("f", ["KEY"]) }, NOW)).toMatchObject({
      kind: "deny",
    });
  });

  it("I166 a blank worker is never ready", () => {
    const states = [...sampleStates.starting, ...sampleStates.reconnecting, ...sampleStates.stopping];
    const next = states.map((state) =>
      reduce(state, { type: "hello", generation: "g", phase: "blank", fresh: freshOf("f") }, NOW),
    );
    expect(next.filter((decision) => decision.kind === "move" && decision.state.name === "ready")).toEqual([]);
    expect(next.filter(({ kind }) => kind === "move").length).toBeGreaterThan(0);
  });
});

/** What a real world could answer next, given what has been asked: the edge as a model. */
function plausible(state: State, alive: ReadonlySet<string>, pick: number): Event | null {
  const generation = generationOf(state) ?? "none";
  const isAlive = alive.has(generation);
  const stopId = "intent" in state ? state.intent.stopId : "none";
  const menu: (Event | null)[] = [
    { type: "stop", intent: intentOf(pick % 3 === 0 ? "archive" : "stop", `s${pick}`, pick % 2 === 0) },
    { type: "resume", by: "resume", fresh: freshOf(`r${pick}`) },
    state.due ? { type: "due", timer: state.due.timer, at: state.due.at, fresh: freshOf(`d${pick}`) } : null,
    isAlive ? { type: "process_gone", generation, how: "gone" } : null,
    isAlive && state.name !== "launching"
      ? { type: "hello", generation, phase: pick % 2 ? "serving" : "blank", fresh: freshOf(`h${pick}`) }
      : null,
    isAlive && state.name === "starting" ? { type: "serving", generation } : null,
    isAlive && state.name !== "launching" ? { type: "channel_closed", generation } : null,
    state.name === "finalizing" ? { type: "finalized", stopId, fresh: freshOf(`z${pick}`) } : null,
    state.name === "finalizing" ? { type: "finalize_failed", stopId, reason: "disk" } : null,
    state.name === "stopping" && isAlive ? { type: "acknowledged", stopId, graceMs: 1_000 * (pick % 15) } : null,
    isAlive && state.name !== "launching" ? { type: "progress", generation } : null,
    state.name === "recovering" && state.phase === "settling"
      ? { type: "settled", generation, fresh: freshOf(`t${pick}`) }
      : null,
  ];
  return menu[pick % menu.length] ?? null;
}

/** Plays a history and returns each moment at which a spawn, or the end, met a worker that may still live. */
function violations(picks: readonly number[]): string[] {
  let state: State = { name: "launching", generation: "g0", launches: [], due: null };
  const alive = new Set<string>();
  const pending: string[] = ["g0"];
  const found: string[] = [];
  let now = 0;
  for (const pick of picks) {
    now += pick % 700;
    const spawning = pending.shift();
    if (spawning !== undefined) alive.add(spawning);
    const event: Event | null =
      spawning === undefined
        ? plausible(state, alive, pick)
        : { type: "spawned", generation: spawning, process: processOf(spawning) };
    if (!event) continue;
    if (event.type === "process_gone") alive.delete(event.generation);
    const decision = reduce(state, event, now);
    if (decision.kind === "remove") return alive.size > 0 ? [...found, `${state.name} removed`] : found;
    if (decision.kind !== "move") continue;
    const spawns = decision.effects.flatMap((effect) => (effect.type === "spawn" ? [effect.generation] : []));
    if (spawns.length > 0 && alive.size > 0) found.push(`${state.name} × ${event.type}`);
    pending.push(...spawns);
    state = decision.state;
  }
  return found;
}

it("I8 I144 any history has one worker at a time: nothing is spawned or removed while an earlier one may live", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(10_000), { maxLength: 200 }), (picks) => {
      expect(violations(picks)).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});
