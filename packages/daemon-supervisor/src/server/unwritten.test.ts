import { FakeClock } from "@holdfast/shared-process/testing";
import { expect, it } from "vitest";
import type { Stamp } from "../lifecycle/answers.ts";
import { freshOf, intentOf } from "../lifecycle/samples.testing.ts";
import { Registry } from "../registry.ts";
import { endWritten, unwritten } from "./unwritten.ts";

it("I17 an end that is not written yet is not overtaken: it would be written over what comes next", async () => {
  const clock = new FakeClock();
  let write!: () => void;
  const stamps: Stamp[] = [];
  const registry = new Registry({
    clock,
    persist: (_sessionId, { state }) =>
      state === null ? new Promise((resolve) => (write = resolve)) : Promise.resolve(),
    run: (stamp) => void stamps.push(stamp),
    fresh: () => freshOf("f"),
    onPublished: () => undefined,
    onProblem: (_sessionId, message) => expect.fail(message),
    onDecision: () => undefined,
  });
  const ending = { process: null, launches: [], intent: intentOf("stop"), since: 0, problem: null, due: null } as const;
  registry.enroll("s", { name: "finalizing", ...ending }, [{ type: "finalize", process: null, intent: ending.intent }]);
  await registry.drained();
  registry.answer(stamps[0]!, { type: "finalized", stopId: "s", fresh: freshOf("f") });
  const late = endWritten(registry, "s", "the stop", 1_000).catch((error: unknown) => error);
  clock.advance(1_000);
  expect(await late).toMatchObject({ code: "timeout" });
  const inTime = endWritten(registry, "s", "the stop", 1_000).then(() => "written");
  write();
  expect(await inTime).toBe("written");
});

it("what is in no record yet is promised for the life of this daemon alone, and how to be sure", () => {
  const problem = Object.assign(new Error("EROFS: read-only file system"), { code: "EROFS" });
  const told = unwritten({ problem: () => problem }, "s", "the stop");
  expect(told?.message).toBe(
    "the stop cannot be recorded: EROFS: read-only file system; this daemon tries it again for as long as it lives: " +
      "repeat the request under the same id to be sure",
  );
});
