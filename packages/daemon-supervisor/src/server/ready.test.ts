import { FakeClock } from "@holdfast/shared-process/testing";
import { expect, it } from "vitest";
import { freshOf, intentOf, processOf } from "../lifecycle/samples.testing.ts";
import { answeredEffect } from "../lifecycle/answers.ts";
import type { Answer, Stamp } from "../lifecycle/answers.ts";
import type { Effect, State } from "../lifecycle/state.ts";
import { Registry } from "../registry.ts";
import { damagedRow } from "../rows.ts";
import { untilReady } from "./ready.ts";

const stopping: State = {
  name: "stopping",
  process: processOf("g"),
  generation: "g",
  launches: [],
  intent: intentOf("replace"),
  phase: "terminated",
  graceEndsAt: null,
  since: 0,
  due: { timer: "kill", at: 600_000 },
};

function world() {
  const clock = new FakeClock();
  const stamps = new Map<Effect["type"], Stamp>();
  const registry = new Registry({
    clock,
    persist: async () => undefined,
    run: (stamp, effect) => void stamps.set(effect.type, stamp),
    fresh: () => freshOf("f"),
    onPublished: () => undefined,
    onProblem: (_sessionId, message) => expect.fail(message),
    onDecision: () => undefined,
  });
  registry.enroll("s", stopping, []);
  const report = { activity: "idle", openOperations: 0, lastActivityAt: 0, waitingFor: null, degraded: null } as const;
  const services = {
    context: { registry },
    sessions: { row: (sessionId: string) => damagedRow(sessionId, "") },
    channels: { report: () => report },
  };
  /** Answers the last effect of its kind, once it runs. */
  const answer = async (event: Answer): Promise<void> => {
    await registry.drained();
    const stamp = stamps.get(answeredEffect[event.type]);
    if (!stamp) throw new Error(`nothing asked for ${event.type}`);
    registry.answer(stamp, event);
  };
  return { clock, registry, answer, wait: () => untilReady(services, "s") };
}

const refusal = async (waiting: Promise<unknown>): Promise<unknown> =>
  await waiting.then(
    () => null,
    (error: unknown) => error,
  );

it("I45 I46 a resume waits ten seconds for the old worker, then says to try again; nothing dead is returned", async () => {
  const { clock, wait } = world();
  const refused = refusal(wait());
  clock.advance(10_000);
  expect(await refused).toMatchObject({ code: "worker_still_stopping", retryable: true });
});

it("I45 all who wait for a replacement get the same one", async () => {
  const { clock, registry, answer, wait } = world();
  const both = Promise.all([wait(), wait()]);
  registry.dispatch("s", { type: "process_gone", generation: "g", how: "gone" });
  await answer({ type: "finalized", stopId: "s", fresh: freshOf("h") });
  await registry.drained();
  clock.advance(250);
  await answer({ type: "spawned", generation: "f", process: processOf("f") });
  registry.dispatch("s", { type: "hello", generation: "f", phase: "blank", fresh: freshOf("i") });
  await answer({ type: "serving", generation: "f" });
  expect(await both).toHaveLength(2);
  expect(registry.published("s")).toMatchObject({ name: "ready", process: { generation: "f" } });
});

it("a session that is stopped while it is waited for is not returned as ready", async () => {
  const { registry, answer, wait } = world();
  const refused = refusal(wait());
  registry.dispatch("s", { type: "stop", intent: intentOf("stop", "t") });
  registry.dispatch("s", { type: "process_gone", generation: "g", how: "gone" });
  await answer({ type: "finalized", stopId: "t", fresh: freshOf("h") });
  expect(await refused).toMatchObject({ code: "session_stopping" });
});
