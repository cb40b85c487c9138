import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { createObserver } from "@holdfast/shared-process";
import { FakeClock, FakeProcessTable } from "@holdfast/shared-process/testing";
import { sessionRecordPath } from "@holdfast/session-worker/transport";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Booted } from "./boot.testing.ts";
import { bootHome } from "./boot.testing.ts";
import { Catalog } from "./catalog.ts";
import { descriptorPath, encodeDescriptor } from "./descriptor.ts";
import { prepareHome } from "./home.ts";
import { RECOVERY_DELAYS_MS } from "./lifecycle/budget.ts";
import type { Stamp } from "./lifecycle/answers.ts";
import { freshOf, processOf } from "./lifecycle/samples.testing.ts";
import type { Effect, Goal } from "./lifecycle/state.ts";
import { makeSession, sessionRecordOf } from "./session-record.testing.ts";

const sessionId = "01a2aaaa-0000-7000-8000-000000000001";
let home: string;
let clock: FakeClock;
beforeEach(async () => {
  home = join(mkdtempSync(join(tmpdir(), "launches-")), "home");
  prepareHome(nodeFileSystem, home);
  await makeSession(home, sessionRecordOf(sessionId));
  clock = new FakeClock();
});
afterEach(() => rmSync(join(home, ".."), { recursive: true }));

const observer = createObserver({ mode: "narrow", ports: new FakeProcessTable() });
type Run = (booted: Booted, stamp: Stamp, effect: Effect) => void;
const boot = (run?: Run): Booted => bootHome({ home, clock, observer, ...(run ? { run } : {}) });

const failing: Run = ({ context: { registry } }, stamp, effect) => {
  if (effect.type !== "spawn") return;
  const { generation } = effect;
  const fresh = freshOf("f");
  registry.answer(stamp, { type: "spawn_failed", generation, terminal: false, reason: "no fork", code: null, fresh });
};

const spawnsOf = ({ effects }: Booted): number => effects.filter(([, { type }]) => type === "spawn").length;

/** One supervisor that is killed as soon as it has tried a launch, or has given up. */
async function live(run: Run): Promise<{ readonly spawns: number; readonly state: string | undefined }> {
  const booted = boot(run);
  const { registry } = booted.context;
  for (let waits = 0; waits < 3 && spawnsOf(booted) === 0; waits += 1) {
    await registry.drained();
    clock.advance(Math.max(...RECOVERY_DELAYS_MS));
    await registry.drained();
  }
  const state = (await booted.published(sessionId))?.name;
  registry.close();
  return { spawns: spawnsOf(booted), state };
}

it.each([
  ["that cannot be spawned", failing],
  ["in whose spawn the supervisor ends", () => {}],
] as const)("I154 launches %s spend the budget, however many supervisors it takes", async (_what, run) => {
  const lives: string[] = [];
  let spawns = 0;
  for (let life = 0; life <= RECOVERY_DELAYS_MS.length + 1; life += 1) {
    const lived = await live(run);
    spawns += lived.spawns;
    lives.push(lived.state ?? "none");
  }
  expect([spawns, lives.at(-1)]).toEqual([RECOVERY_DELAYS_MS.length, "failed"]);
  expect(new Catalog(home).get(sessionId)?.failure?.reason).toMatch(/gave up after 5 relaunches/);
});

it("a session that was never launched is launched by its next supervisor at once", async () => {
  const booted = boot();
  await booted.context.registry.drained();
  clock.advance(0);
  expect((await booted.published(sessionId))?.name).toBe("launching");
});

it("I154 what was launched is said before the spawn, and a person's resume empties the count", async () => {
  const booted = boot();
  const { registry } = booted.context;
  const launches = (): unknown => JSON.parse(readFileSync(sessionRecordPath(home, sessionId), "utf8")).launches ?? [];
  await registry.drained();
  clock.advance(0);
  await registry.drained();
  expect([spawnsOf(booted), launches()]).toEqual([1, [{ bootId: "b", at: 0 }]]);
  const generation = booted.effects.flatMap(([, effect]) => (effect.type === "spawn" ? [effect.generation] : []))[0]!;
  await booted.answer({
    type: "spawn_failed",
    generation,
    terminal: true,
    reason: "no such program",
    code: null,
    fresh: freshOf("f"),
  });
  expect((await booted.published(sessionId))?.name).toBe("failed");
  registry.dispatch(sessionId, { type: "resume", by: "resume", fresh: freshOf("r") });
  await registry.drained();
  expect(launches()).toEqual([]);
});

it("I78 a failed launch erases nothing of the one that took its place, on disk or in memory", async () => {
  const booted = boot();
  const { registry } = booted.context;
  await registry.drained();
  clock.advance(0);
  await registry.drained();
  const first = booted.effects.flatMap(([, effect]) => (effect.type === "spawn" ? [effect.generation] : []))[0]!;
  const failed = {
    type: "spawn_failed",
    generation: first,
    terminal: false,
    reason: "no fork",
    code: null,
    fresh: freshOf("second"),
  } as const;
  const [launched] = booted.effects.at(-1)!;
  registry.answer(launched, failed);
  registry.dispatch(sessionId, { type: "resume", by: "retry", fresh: freshOf("second") });
  await booted.answer({ type: "spawned", generation: "second", process: processOf("second") });
  const replacement = await booted.published(sessionId);
  expect(replacement).toMatchObject({ name: "starting", process: { generation: "second" } });
  const written = readFileSync(descriptorPath(home, sessionId), "utf8");
  const late = [
    failed,
    { ...failed, terminal: true },
    { type: "start_failed", generation: first, terminal: true, reason: "late" },
    { type: "settle_failed", generation: first, terminal: true, reason: "late" },
    { type: "spawned", generation: first, process: processOf(first) },
  ] as const;
  for (const event of late) expect(registry.answer(launched, event).kind).toBe("stale");
  const gone = { type: "process_gone", generation: first, how: "gone" } as const;
  expect(registry.dispatch(sessionId, gone).kind).toBe("stale");
  expect(await booted.published(sessionId)).toEqual(replacement);
  expect(readFileSync(descriptorPath(home, sessionId), "utf8")).toBe(written);
});

it("I77 a published launch that failed is retried only behind its clean-up; without one its exact process stays on record", async () => {
  const booted = boot();
  const { registry } = booted.context;
  await registry.drained();
  clock.advance(0);
  await registry.drained();
  const generation = booted.effects.flatMap(([, effect]) => (effect.type === "spawn" ? [effect.generation] : []))[0]!;
  const process = processOf(generation);
  await booted.answer({ type: "spawned", generation, process });
  registry.dispatch(sessionId, { type: "hello", generation, phase: "blank", fresh: freshOf("h") });
  await booted.answer({ type: "start_failed", generation, terminal: false, reason: "no agent" });
  clock.advance(60_000);
  // However long it takes: while its process is not proven gone nothing is launched beside it.
  expect([(await booted.published(sessionId))?.name, spawnsOf(booted)]).toEqual(["starting", 1]);
  registry.dispatch(sessionId, { type: "process_gone", generation, how: "gone" });
  clock.advance(60_000);
  expect([(await booted.published(sessionId))?.name, spawnsOf(booted)]).toEqual(["recovering", 1]);
  await booted.answer({ type: "settle_failed", generation, terminal: true, reason: "its journal is damaged" });
  clock.advance(60_000);
  expect([(await booted.published(sessionId))?.name, spawnsOf(booted)]).toEqual(["failed", 1]);
  const kept: unknown = JSON.parse(readFileSync(descriptorPath(home, sessionId), "utf8"));
  expect(kept).toMatchObject({ lifecycle: "failed", process, reason: "its journal is damaged" });
});

const descriptorOf = (goal: Goal): string => {
  const intent = { stopId: "s", requestedAt: "2026-01-01T00:00:00.000Z", goal, force: false };
  const shape = { lifecycle: "ready", process: processOf("g"), launches: [], stop: intent } as const;
  return encodeDescriptor(sessionId, shape, { epoch: 2, at: "2026-01-01T00:00:00.000Z" });
};

it.each([
  ["a passivation became a stop", "passivate", "stopped", "stop"],
  ["a stop became an archive", "stop", "archived", "archive"],
  ["a stop was rescinded by a resume", "stop", "running", "replace"],
] as const)(
  "I129 I130 the record that is written first decides when %s and the rest was not written",
  async (_what, beside, wanted, goal) => {
    await new Catalog(home).update(sessionId, (record) => ({ ...record, wanted }));
    writeFileSync(descriptorPath(home, sessionId), descriptorOf(beside));
    expect(await boot().published(sessionId)).toMatchObject({ intent: { goal, stopId: "s" } });
  },
);

it.each([
  ["over which the record was written, counts no more", ["018c0000-0001-4000-8000-000000000001"], "stop"],
  ["over which it was not written, counts", [], "replace"],
] as const)("I129 a bare intent of before, %s", async (_what, overtaken, goal) => {
  await new Catalog(home).update(sessionId, (record) => ({ ...record, wanted: "stopped", overtaken: [...overtaken] }));
  writeFileSync(descriptorPath(home, sessionId), descriptorOf("stop"));
  const bare = `${home}/workers/${sessionId}.018c0000-0001-4000-8000-000000000001.replace`;
  writeFileSync(bare, "");
  expect(await boot().published(sessionId)).toMatchObject({ intent: { goal } });
});

it("I142 a worker's record beside a session's that cannot be read is quarantined for that reason", () => {
  writeFileSync(sessionRecordPath(home, sessionId), "{");
  writeFileSync(descriptorPath(home, sessionId), descriptorOf("stop"));
  expect([...boot().quarantined.values()]).toEqual(["session.json is not JSON"]);
});
