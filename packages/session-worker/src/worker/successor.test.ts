import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OwnerRecord } from "@holdfast/client/protocol";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { createObserver } from "@holdfast/shared-process";
import { FakeClock, FakeProcessTable } from "@holdfast/shared-process/testing";
import { expect, it, onTestFinished } from "vitest";
import type { SupervisorStart } from "../transport/start-supervisor.ts";
import { Successor } from "./successor.ts";

const PID = 50;
const programs = { supervisor: "/bin/supervisor.js", worker: "/bin/worker.js" };

/** A worker of a home whose supervisor was process 50, of epoch 3. */
function worker(record: Partial<OwnerRecord> = {}) {
  const home = mkdtempSync(join(tmpdir(), "hf-successor-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  for (const folder of ["run", "owner"]) mkdirSync(join(home, folder));
  const table = new FakeProcessTable();
  table.start({ pid: PID });
  const observer = createObserver({ ports: table });
  const seen = observer.identify(PID);
  if (seen.kind !== "identified") throw new Error(seen.why);
  const owner = {
    schemaVersion: 1,
    epoch: 3,
    home,
    identity: seen.identity,
    lifelinePath: null,
    socketPath: null,
    version: "1",
    phase: "serving",
    claimedAt: "2026-01-01T00:00:00.000Z",
    ...record,
  };
  writeFileSync(join(home, "owner/3.json"), JSON.stringify(owner));
  const clock = new FakeClock();
  const said: string[] = [];
  const starts: SupervisorStart[] = [];
  const successor = new Successor({
    fs: nodeFileSystem,
    home,
    clock,
    observer,
    say: (text) => void said.push(text),
    start: async (start) => {
      starts.push(start);
      return { kind: "failed", code: "command_not_found", message: "no such program" };
    },
  });
  successor.met(programs);
  return { home, table, clock, said, starts, successor };
}

it("I135 a supervisor that is proven gone is replaced, by one that takes the place of no other", async () => {
  const { home, table, starts, successor } = worker();
  table.reap(PID);
  await successor.look();
  expect(starts).toMatchObject([{ home, programs, successorOf: 3 }]);
});

it("I138 one that is silent and lives is not replaced, however often it is looked at", async () => {
  const { starts, said, successor, clock } = worker();
  for (let look = 0; look < 10; look += 1) {
    await successor.look();
    clock.advance(60_000);
  }
  expect(starts).toEqual([]);
  expect(said).toEqual([expect.stringContaining("process 50 lives")]);
});

it("I106 I138 the record of an owner that lived at the last look is judged anew at the next", async () => {
  const { table, starts, successor } = worker();
  await successor.look();
  expect(starts).toEqual([]);
  table.end(PID);
  await successor.look();
  expect(starts).toHaveLength(1);
});

it("I138 I163 one that cannot be observed, on another machine say, is not replaced", async () => {
  const { starts, said, successor } = worker({ identity: identityOn("another") });
  await successor.look();
  expect([starts, said]).toEqual([[], [expect.stringContaining("other-host")]]);
});

const identityOn = (machineId: string): OwnerRecord["identity"] => ({
  machineId,
  bootId: "b",
  pid: PID,
  pidNamespace: null,
  timeNamespace: null,
  startTicks: "1",
  pidfsInode: null,
});

it.each([
  ["stopped", "it was stopped"],
  ["maintenance", "the home is being stopped by force"],
] as const)("an owner that ended in phase %s is not brought back", async (phase, why) => {
  const { table, starts, said, successor } = worker({ phase });
  table.reap(PID);
  await successor.look();
  expect([starts, said]).toEqual([[], [expect.stringContaining(why)]]);
});

it("a home without a record that can be read is not claimed for anybody", async () => {
  const { home, table, starts, successor } = worker();
  table.reap(PID);
  writeFileSync(join(home, "owner/4.json"), "");
  await successor.look();
  rmSync(join(home, "owner"), { recursive: true });
  await successor.look();
  expect(starts).toEqual([]);
});

it("I154 five tries that bring nobody are the last for five minutes, and it says so", async () => {
  const { table, starts, said, successor, clock } = worker();
  table.reap(PID);
  for (let look = 0; look < 60; look += 1) {
    await successor.look();
    clock.advance(1_000);
  }
  expect(starts).toHaveLength(5);
  expect(said.at(-1)).toContain("5 tries in 5 minutes brought no other");
});

it("starts nothing while nobody told it what", async () => {
  const { home, table, said, starts } = worker();
  table.reap(PID);
  const observer = createObserver({ ports: table });
  const say = (text: string): void => void said.push(text);
  const start = (): never => expect.fail("nothing was to be started");
  const untold = new Successor({ home, fs: nodeFileSystem, clock: new FakeClock(), observer, say, start });
  await untold.look();
  expect([starts, said]).toEqual([[], [expect.stringContaining("did not say how to start another")]]);
});
