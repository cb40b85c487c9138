import { expect, it } from "vitest";
import { FakeClock } from "@holdfast/shared-process/testing";
import { freshOf, intentOf, processOf } from "./lifecycle/samples.testing.ts";
import type { Stamp } from "./lifecycle/answers.ts";
import type { Effect, State } from "./lifecycle/state.ts";
import { Registry } from "./registry.ts";

const ready = (generation: string): State => ({
  name: "ready",
  process: processOf(generation),
  launches: [],
  due: null,
});

interface Gate {
  readonly open: () => void;
  readonly opened: Promise<void>;
}
const gate = (): Gate => {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
};

function world(
  persist: (sessionId: string, state: State | null) => Promise<void> = async () => undefined,
  look: () => void = () => undefined,
) {
  const trace: string[] = [];
  const clock = new FakeClock();
  /** The stamps of each kind of effect, in order. */
  const stamps = new Map<Effect["type"], Stamp[]>();
  const stampOf = (type: Effect["type"], index = -1): Stamp => {
    const stamp = stamps.get(type)?.at(index);
    if (!stamp) throw new Error(`no ${type} was run`);
    return stamp;
  };
  const registry: Registry = new Registry({
    clock,
    persist: async (sessionId, { state }) => {
      await persist(sessionId, state);
      trace.push(`${sessionId} durable ${state?.name ?? "removed"}`);
    },
    run: (stamp, effect) => {
      trace.push(`${stamp.sessionId} ${effect.type}`);
      stamps.set(effect.type, [...(stamps.get(effect.type) ?? []), stamp]);
    },
    fresh: () => freshOf("f"),
    onPublished: (sessionId, state) => {
      look();
      trace.push(`${sessionId} visible ${state?.name ?? "removed"}`);
    },
    onProblem: (sessionId, message) => trace.push(`${sessionId} problem ${message}`),
    onDecision: () => undefined,
  });
  return { registry, trace, clock, stampOf };
}

it("makes a state durable, then visible, then acts", async () => {
  const { registry, trace } = world();
  registry.enroll("a", ready("g"), []);
  await registry.drained();
  trace.length = 0;
  registry.dispatch("a", { type: "stop", intent: intentOf("stop") });
  expect(registry.published("a")?.name).toBe("ready");
  await registry.drained();
  expect(trace).toEqual(["a durable stopping", "a visible stopping", "a ask_stop", "a watch"]);
});

it("I169 one slow disk delays one session", async () => {
  const slow = gate();
  const { registry } = world((sessionId) => (sessionId === "slow" ? slow.opened : Promise.resolve()));
  registry.enroll("slow", ready("g"), []);
  registry.enroll("quick", ready("g"), []);
  registry.dispatch("slow", { type: "stop", intent: intentOf("stop") });
  registry.dispatch("quick", { type: "stop", intent: intentOf("stop") });
  expect(await registry.until("quick", (state) => state?.name === "stopping", 1_000)).toMatchObject({
    name: "stopping",
  });
  expect(registry.published("slow")?.name).toBe("ready");
  slow.open();
  await registry.drained();
  expect(registry.published("slow")?.name).toBe("stopping");
});

it("I141 tries a refused write again and shows nothing until it is durable", async () => {
  let full = true;
  const { registry, trace, clock } = world(async () => {
    if (full) throw new Error("disk full");
  });
  registry.enroll("a", ready("g"), []);
  for (let turn = 0; turn < 20 && trace.length === 0; turn += 1) await Promise.resolve();
  expect(trace).toEqual(["a problem cannot write its records: disk full"]);
  full = false;
  clock.advance(500);
  await registry.drained();
  expect(trace.at(-1)).toBe("a visible ready");
});

it("goes on after a bug in what looks on or acts", async () => {
  const { registry, trace } = world(
    async () => undefined,
    () => {
      throw new Error("bug");
    },
  );
  registry.enroll("a", ready("g"), []);
  registry.dispatch("a", { type: "stop", intent: intentOf("stop") });
  expect(await registry.drained()).toBe(true);
  expect(registry.published("a")?.name).toBe("stopping");
  expect(trace.filter((line) => line === "a problem bug: bug")).toHaveLength(2);
});

it("I169 tells those who wait for a disk that stands still, within a bound", async () => {
  const { registry, clock } = world(() => gate().opened);
  registry.enroll("a", ready("g"), []);
  const drained = registry.drained({ sessionId: "a", timeoutMs: 100 });
  clock.advance(100);
  expect(await drained).toBe(false);
});

it("I168 a stop is not held up by an earlier state that the disk does not take", async () => {
  const { registry, trace } = world(async (_sessionId, state) => {
    if (state?.name === "recovering") throw new Error("disk full");
  });
  registry.enroll("a", ready("g"), []);
  registry.dispatch("a", { type: "process_gone", generation: "g", how: "gone" });
  registry.dispatch("a", { type: "stop", intent: intentOf("stop") });
  expect(await registry.until("a", (state) => state?.name === "finalizing", 1_000)).toMatchObject({
    name: "finalizing",
  });
  expect(trace).not.toContain("a settle");
  expect(trace.at(-1)).toBe("a finalize");
});

it("I168 a stop that overtakes a launch whose record the disk does not take is finished, not waited for for ever", async () => {
  const { registry, trace } = world(async (_sessionId, state) => {
    if (state?.name === "launching") throw new Error("disk full");
  });
  registry.enroll("a", { name: "launching", generation: "g", launches: [], due: null }, [
    { type: "spawn", generation: "g" },
  ]);
  registry.dispatch("a", { type: "stop", intent: intentOf("stop") });
  expect(await registry.until("a", (state) => state?.name === "finalizing", 1_000)).toMatchObject({
    name: "finalizing",
    process: null,
  });
  expect(trace).not.toContain("a spawn");
});

it("runs the timer of the newest state only", async () => {
  const { registry, clock, stampOf } = world();
  registry.enroll("a", ready("g"), []);
  registry.dispatch("a", { type: "stop", intent: intentOf("stop") });
  await registry.drained();
  registry.answer(stampOf("ask_stop"), { type: "acknowledged", stopId: "s", graceMs: 5_000 });
  await registry.drained();
  clock.advance(1_000);
  expect(registry.newest("a")).toMatchObject({ phase: "granted" });
  registry.dispatch("a", { type: "progress", generation: "g" });
  await registry.drained();
  clock.advance(2_500);
  registry.dispatch("a", { type: "progress", generation: "g" });
  await registry.drained();
  clock.advance(2_500);
  expect(registry.newest("a")).toMatchObject({ phase: "killing" });
});

const finalizing = {
  name: "finalizing",
  process: null,
  launches: [],
  intent: intentOf("stop"),
  since: 0,
  problem: null,
  due: null,
} as const;
const finalize = { type: "finalize", process: null, intent: finalizing.intent } as const;

it("ends a registration: its waiters learn it, later events find nothing", async () => {
  const { registry, stampOf } = world();
  registry.enroll("a", finalizing, [finalize]);
  await registry.drained();
  const ended = registry.until("a", (state) => state === null, 1_000);
  registry.answer(stampOf("finalize"), { type: "finalized", stopId: "s", fresh: freshOf("f") });
  expect(await ended).toBeNull();
  expect(registry.dispatch("a", { type: "resume", by: "resume", fresh: freshOf("f") })).toEqual({ kind: "absent" });
  expect(registry.sessionIds()).toEqual([]);
});

it("I1 I168 an end whose records cannot be removed is tried again until they are", async () => {
  let refused = 1;
  const { registry, stampOf, clock } = world(async (_sessionId, state) => {
    if (state === null && refused-- > 0) throw new Error("disk error");
  });
  registry.enroll("a", finalizing, [finalize]);
  await registry.drained();
  registry.answer(stampOf("finalize"), { type: "finalized", stopId: "s", fresh: freshOf("f") });
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  expect([registry.published("a")?.name, registry.problem("a")]).toMatchObject([
    "finalizing",
    { message: "disk error" },
  ]);
  clock.advance(500);
  await registry.drained();
  expect([registry.published("a"), refused]).toEqual([null, -1]);
});

it("I62 an answer to an earlier effect of the same kind, or of an earlier registration, changes nothing", async () => {
  const { registry, stampOf, clock } = world();
  registry.enroll("a", finalizing, [finalize]);
  await registry.drained();
  registry.answer(stampOf("finalize"), { type: "finalize_failed", stopId: "s", reason: "full" });
  await registry.drained();
  clock.advance(5_000);
  await registry.drained();
  const stale = { kind: "stale", why: "another effect" };
  const finalized = { type: "finalized", stopId: "s", fresh: freshOf("f") } as const;
  expect(registry.answer(stampOf("finalize", 0), finalized)).toEqual(stale);
  expect(registry.published("a")?.name).toBe("finalizing");
  expect(registry.answer(stampOf("finalize"), finalized).kind).toBe("remove");
  await registry.drained();
  // The same stop of the same session, found again.
  registry.enroll("a", finalizing, [finalize]);
  await registry.drained();
  expect(registry.answer(stampOf("finalize", 1), finalized)).toEqual(stale);
  expect(registry.published("a")?.name).toBe("finalizing");
});

it("I74 a stop is begun in the turn that asks for it, durable before its first step, and ended by its own id alone", async () => {
  const disk = gate();
  const { registry, trace, stampOf } = world((_sessionId, state) =>
    state?.name === "stopping" ? disk.opened : Promise.resolve(),
  );
  registry.enroll("a", ready("g"), []);
  await registry.drained();
  trace.length = 0;
  registry.dispatch("a", { type: "stop", intent: intentOf("stop", "mine") });
  expect(registry.newest("a")).toMatchObject({ name: "stopping", intent: { stopId: "mine" } });
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  expect(trace).toEqual([]);
  disk.open();
  await registry.drained();
  expect(trace[0]).toBe("a durable stopping");
  registry.dispatch("a", { type: "process_gone", generation: "g", how: "gone" });
  const other = { type: "finalized", stopId: "another", fresh: freshOf("f") } as const;
  await registry.drained();
  expect(registry.answer(stampOf("finalize"), other).kind).toBe("stale");
  expect(registry.newest("a")).toMatchObject({ name: "finalizing", intent: { stopId: "mine" } });
  expect(registry.answer(stampOf("finalize"), { ...other, stopId: "mine" }).kind).toBe("remove");
});
