import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { FakeClock } from "@holdfast/shared-process/testing";
import { expect, it, onTestFinished } from "vitest";
import { Alone } from "./alone.ts";

const MINUTE = 60_000;

function alone({ working = false }: { readonly working?: boolean } = {}) {
  const home = mkdtempSync(join(tmpdir(), "hf-alone-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const clock = new FakeClock();
  const seen = { working, busy: null as string | null, successors: 0, rebinds: 0, left: [] as string[] };
  const begin = (): Alone =>
    new Alone({
      home,
      fs: nodeFileSystem,
      clock,
      isWorking: () => seen.working,
      whyBusy: () => seen.busy,
      seeToSuccessor: async () => void (seen.successors += 1),
      rebind: async () => void (seen.rebinds += 1),
      leave: (reason) => void seen.left.push(reason),
    });
  /** Time passes in steps, each with what it leads to. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(1_000);
      await new Promise((resolve) => void setImmediate(resolve));
    }
  };
  return { home, clock, seen, begin, pass };
}

it("ends after 30 minutes without a supervisor and without work, and not before", async () => {
  const { seen, begin, pass } = alone();
  begin();
  await pass(30 * MINUTE - 10_000);
  expect(seen.left).toEqual([]);
  await pass(10_000);
  expect(seen.left).toEqual(["no supervisor came"]);
});

it("looks no more once a supervisor proved itself, and begins anew when that one is lost", async () => {
  const { seen, begin, pass, clock } = alone();
  const first = begin();
  await pass(29 * MINUTE);
  first[Symbol.dispose]();
  expect(clock.pendingTimers).toBe(0);
  begin();
  await pass(29 * MINUTE);
  expect(seen.left).toEqual([]);
});

it("stays as long as it works, and 30 minutes from then on", async () => {
  const { seen, begin, pass } = alone({ working: true });
  begin();
  await pass(40 * MINUTE);
  seen.working = false;
  await pass(29 * MINUTE);
  expect(seen.left).toEqual([]);
  await pass(2 * MINUTE);
  expect(seen.left).toEqual(["no supervisor came"]);
});

it("takes nothing along that its session left running", async () => {
  const { seen, begin, pass } = alone();
  seen.busy = "a process of the session runs";
  begin();
  await pass(61 * MINUTE);
  expect(seen.left).toEqual([]);
  seen.busy = null;
  await pass(31 * MINUTE);
  expect(seen.left).toEqual(["no supervisor came"]);
});

it("sees to a successor only with work in progress, and after a short wait", async () => {
  const { seen, begin, pass } = alone();
  begin();
  await pass(10 * MINUTE);
  expect([seen.successors, seen.rebinds > 0]).toEqual([0, true]);
  const working = alone({ working: true });
  working.begin();
  expect(working.seen.successors).toBe(0);
  await working.pass(1_000);
  expect(working.seen.successors).toBe(1);
});

it("I146 ends at once with its home: in the turn that lost the supervisor, or at the next look", async () => {
  const { home, seen, begin, pass, clock } = alone({ working: true });
  begin();
  rmSync(home, { recursive: true });
  await pass(1_000);
  expect(seen.left).toEqual(["its home is gone"]);
  begin();
  expect([seen.left.length, clock.pendingTimers]).toEqual([2, 0]);
});
