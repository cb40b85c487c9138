import { createObserver } from "@holdfast/shared-process";
import { FakeClock, FakeProcessTable } from "@holdfast/shared-process/testing";
import { pino } from "pino";
import { expect, it } from "vitest";
import { freshOf, intentOf, processOf } from "../lifecycle/samples.testing.ts";
import { Registry } from "../registry.ts";
import { assertGone } from "./assert-gone.ts";

const PID = 50;
const order = { sessionId: "s", asserted: true, stamp: { requestId: "r", hash: "h" } };

/** A stop that waits for the process with number 50; `pidNamespace` makes it one that cannot be seen. */
function worldOf(pidNamespace?: string) {
  const table = new FakeProcessTable();
  table.start({ pid: PID });
  const clock = new FakeClock();
  const observer = createObserver({ mode: "narrow", ports: table, clock });
  const seen = observer.identify(PID);
  if (seen.kind !== "identified") throw new Error(seen.why);
  const identity = { ...seen.identity, ...(pidNamespace === undefined ? {} : { pidNamespace }) };
  const stamps: unknown[] = [];
  const registry = new Registry({
    clock,
    persist: (_sessionId, { request }) => Promise.resolve(void stamps.push(request)),
    run: () => undefined,
    fresh: () => freshOf("f"),
    onPublished: () => undefined,
    onProblem: (_sessionId, message) => expect.fail(message),
    onDecision: () => undefined,
  });
  registry.enroll(
    "s",
    {
      name: "stopping",
      process: { ...processOf("g"), identity },
      generation: "g",
      launches: [],
      intent: intentOf("stop"),
      phase: "killing",
      graceEndsAt: null,
      since: 0,
      due: { timer: "kill", at: 10 * 60_000 },
    },
    [],
  );
  const assert = async (answers: boolean): Promise<string> => {
    const context = { registry, observer, log: pino({ level: "silent" }) };
    const asked = assertGone({ context, channels: { peer: () => (answers ? { closed: false } : null) } }, order);
    // What it waits for an answer.
    clock.advance(10_000);
    return await asked;
  };
  return { table, registry, assert, stamps };
}

it("I164 I131 goes on with what cannot be seen, durably under its request, and signals nobody", async () => {
  const { table, registry, assert, stamps } = worldOf("pid:[999]");
  expect(await assert(false)).toContain(`process ${PID}`);
  expect(registry.published("s")?.name).toBe("finalizing");
  expect(stamps).toContainEqual(order.stamp);
  expect(table.delivered).toEqual([]);
});

it("I16 refuses for a process that is seen to run, and for a worker that answers", async () => {
  const seen = worldOf();
  await expect(seen.assert(false)).rejects.toMatchObject({ code: "session_running" });
  expect(seen.registry.newest("s")?.name).toBe("stopping");
  const answering = worldOf("pid:[999]");
  await expect(answering.assert(true)).rejects.toMatchObject({ code: "session_running" });
  expect(answering.registry.newest("s")?.name).toBe("stopping");
});
