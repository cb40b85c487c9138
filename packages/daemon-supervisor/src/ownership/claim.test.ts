import { linkSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { SimulatedDisk } from "@holdfast/recovery-journal/testing";
import { createLifeline, createObserver, holdLifeline, systemIds } from "@holdfast/shared-process";
import type { ProcessObserver, Verdict } from "@holdfast/shared-process";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { prepareHome } from "../home.ts";
import { claimHome } from "./claim.ts";
import { hasReserve, keepReserve } from "./reserve.ts";
import { tryClaiming } from "./try-claiming.ts";
import type { ClaimOptions, ClaimResult } from "./claim.ts";
import { topOwner } from "@holdfast/session-worker/transport";

const real = createObserver();
const self = real.self();
let home: string;
beforeEach(() => {
  home = join(mkdtempSync(join(tmpdir(), "claim-")), "home");
  prepareHome(nodeFileSystem, home);
});
afterEach(() => rmSync(join(home, ".."), { recursive: true }));

const observing = (verdict: Verdict): ProcessObserver => ({ ...real, verdict: () => verdict });
const gone: Verdict = { kind: "gone", why: "no-such-pid" };
const claim = (observer: ProcessObserver, more: Partial<ClaimOptions> = {}): ClaimResult =>
  claimHome({
    home,
    fs: nodeFileSystem,
    observer,
    identity: self,
    lifelinePath: null,
    version: "1",
    phase: "starting",
    claimedAt: "2026-01-01T00:00:00.000Z",
    epochFloor: 0,
    ...more,
  });
const epochOf = (result: ClaimResult): number | string =>
  result.kind === "claimed" ? result.ownership.epoch : result.state.kind;

it("takes an empty home as epoch 1, and no second claim while the owner lives", () => {
  expect(epochOf(claim(real))).toBe(1);
  expect(epochOf(claim(real))).toBe("alive");
});

it("I165 a claim whose name could not be synced at first is synced once more: a power cut does not give its epoch to another", () => {
  const disk = new SimulatedDisk();
  for (const folder of ["/h", "/h/owner", "/h/workers"]) disk.mkdir(folder, 0o700);
  for (const folder of ["/", "/h"]) disk.fsync(disk.open(folder, 0));
  disk.inject({ call: "fsync", errno: "EIO", pathEnds: "/owner" });
  expect(epochOf(claim(real, { home: "/h", fs: disk }))).toBe(1);
  expect([...disk.crashStates()].filter((state) => topOwner(state, "/h").kind === "none")).toEqual([]);
});

it("I132 takes a home whose owner's pid belongs to a stranger now", () => {
  claim(real);
  expect(epochOf(claim(observing({ kind: "replaced", by: "process" })))).toBe(2);
  expect(readdirSync(`${home}/owner`)).toEqual(["2.json"]);
});

it("I134 I163 never takes a home whose owner cannot be observed", () => {
  claim(real);
  for (const why of ["hidden", "other-host", "other-pid-namespace"] as const)
    expect(epochOf(claim(observing({ kind: "unknown", why })))).toBe("unknown");
});

it("I163 a home whose owner is of another machine is refused, and says what to do", () => {
  claim(real, { identity: { ...self, machineId: "of another machine" } });
  const refused = claim(real);
  expect(refused).toMatchObject({
    state: { isElsewhere: true, why: expect.stringMatching(/another machine.*agent doctor/) },
  });
  expect(readdirSync(`${home}/owner`)).toEqual(["1.json"]);
});

it("I164 I165 takes a home above an owner that a person asserted to be gone, which finds itself superseded", () => {
  const first = claim(real);
  const hidden = observing({ kind: "unknown", why: "other-host" });
  expect(epochOf(claim(hidden, { assertedGone: 7 }))).toBe("unknown");
  expect(epochOf(claim(real, { assertedGone: 1 }))).toBe("alive");
  expect(epochOf(claim(hidden, { assertedGone: 1 }))).toBe(2);
  if (first.kind !== "claimed") throw new Error("the first claim failed");
  expect([first.ownership.isCurrent(), first.ownership.enter("serving", "/socket")]).toEqual([false, false]);
  // The assertion was about that owner, and about no later one.
  expect(epochOf(claim(hidden, { assertedGone: 1 }))).toBe("unknown");
});

it("takes over at once from an owner that said it stopped", () => {
  const first = claim(real);
  if (first.kind === "claimed") first.ownership.enter("stopped", null);
  expect(epochOf(claim(real))).toBe(2);
});

it("I146 I165 an owner whose record was removed, and another's put under the same number, finds that it has lost", () => {
  const first = claim(real);
  if (first.kind !== "claimed") throw new Error("the first claim failed");
  rmSync(`${home}/owner/1.json`);
  const second = claim(real, { claimedAt: "2026-01-01T00:00:01.000Z" });
  expect(epochOf(second)).toBe(1);
  first.ownership.heal();
  first.ownership.leave();
  if (second.kind !== "claimed") throw new Error("the second claim failed");
  second.ownership.heal();
  expect([first.ownership.isCurrent(), second.ownership.isCurrent()]).toEqual([false, true]);
  expect(topOwner(nodeFileSystem, home)).toMatchObject({ record: { phase: "starting" } });
});

it("I132 I146 a home without an owner record is not claimed while a process holds its owner's lifeline", async () => {
  const lifelinePath = `${home}/run/owner-test.alive`;
  await createLifeline(lifelinePath);
  const held = holdLifeline(lifelinePath);
  expect(claim(real)).toMatchObject({ state: { kind: "unknown", why: expect.stringContaining(lifelinePath) } });
  held[Symbol.dispose]();
  expect(epochOf(claim(real))).toBe(1);
});

it("I147 a copy of hard links is claimed once the copied owner record is gone: the lifeline in it is the original's", async () => {
  const original = join(home, "..", "owner-test.alive");
  await createLifeline(original);
  const held = holdLifeline(original);
  linkSync(original, `${home}/run/owner-test.alive`);
  expect(epochOf(claim(real))).toBe(1);
  held[Symbol.dispose]();
});

it("I168 a trial claim on a full disk leaves what is kept for the claim itself", async () => {
  const disk = new SimulatedDisk();
  for (const folder of ["/h", "/h/owner", "/h/run"]) disk.mkdir(folder, 0o700);
  const trial = (): void => tryClaiming("/h", { fs: disk, ids: systemIds });
  await keepReserve(disk, "/h");
  disk.inject({ call: "write", errno: "ENOSPC", lasting: true });
  trial();
  expect(hasReserve(disk, "/h")).toBe(true);
  disk.unlink("/h/run/reserve");
  expect(trial).toThrow("ENOSPC");
});

it("goes above every epoch that a descriptor names", () => {
  expect(epochOf(claim(real, { epochFloor: 41 }))).toBe(42);
});

it.each(["", "\0\0\0\0\0\0\0\0", "garbage", "{", "{}", "null", '{"epoch":3}'])(
  "I165 a record with the content %j still counts by its name",
  (content) => {
    writeFileSync(`${home}/owner/7.json`, content);
    expect(topOwner(nodeFileSystem, home)).toEqual({ kind: "unreadable", epoch: 7 });
    expect(epochOf(claim(real))).toBe(8);
  },
);

it("an owner that finds a higher epoch publishes nothing more", () => {
  const first = claim(real);
  expect(epochOf(claim(observing(gone)))).toBe(2);
  if (first.kind !== "claimed") throw new Error("the first claim failed");
  expect(first.ownership.isCurrent()).toBe(false);
  expect(first.ownership.enter("serving", "/socket")).toBe(false);
  expect(readdirSync(`${home}/owner`)).toEqual(["2.json"]);
});

it("I139 of two claimers who looked at the same moment one wins, and the other does not sweep it away", () => {
  let overtaken = false;
  let quick: number | string = "nobody";
  const overtaking: FileSystem = {
    ...nodeFileSystem,
    readdir: (path) => {
      const names = nodeFileSystem.readdir(path);
      // Right after the slow claimer's look, the quick one claims.
      if (!overtaken) {
        overtaken = true;
        quick = epochOf(claim(real));
      }
      return names;
    },
  };
  expect([epochOf(claim(real, { fs: overtaking })), quick]).toEqual(["alive", 1]);
  expect(readdirSync(`${home}/owner`)).toEqual(["1.json"]);
});

it("I131 I132 a lifeline that nobody holds outranks a number and a start tick, and not the kernel's own id", async () => {
  const lifelinePath = `${home}/run/owner-test.alive`;
  expect(epochOf(claim(real, { lifelinePath }))).toBe(1);
  await createLifeline(lifelinePath);
  const held = holdLifeline(lifelinePath);
  expect(epochOf(claim(real))).toBe("alive");
  held[Symbol.dispose]();
  expect(epochOf(claim(observing({ kind: "current", basis: "kernel-id" })))).toBe("alive");
  expect(epochOf(claim(observing({ kind: "current", basis: "start-time" })))).toBe(2);
});

it("I131 I132 the owner of a home that was moved holds its lifeline there: a copy at the recorded path proves no end", async () => {
  const copied = join(mkdtempSync(join(tmpdir(), "copy-")), "owner-test.alive");
  onTestFinished(() => rmSync(dirname(copied), { recursive: true }));
  const own = `${home}/run/owner-test.alive`;
  for (const path of [copied, own]) await createLifeline(path);
  expect(epochOf(claim(real, { lifelinePath: copied }))).toBe(1);
  const held = holdLifeline(own);
  const byTicks = observing({ kind: "current", basis: "start-time" });
  expect(epochOf(claim(byTicks))).toBe("alive");
  held[Symbol.dispose]();
  expect(epochOf(claim(byTicks))).toBe(2);
});

it("I109 a claim that is in place is the claimer's, whether or not a power cut would take it", () => {
  const unsynced: FileSystem = {
    ...nodeFileSystem,
    fsync: (fd) => {
      if (nodeFileSystem.fstat(fd).isDirectory()) throw Object.assign(new Error("broken"), { code: "ENOSPC" });
      nodeFileSystem.fsync(fd);
    },
  };
  const result = claim(real, { fs: unsynced });
  expect(epochOf(result)).toBe(1);
  if (result.kind !== "claimed") throw new Error(result.kind);
  expect(result.ownership.enter("serving", "/socket")).toBe(true);
  expect(topOwner(nodeFileSystem, home)).toMatchObject({ record: { phase: "serving" } });
  expect(epochOf(claim(real))).toBe("alive");
});

it("I100 I163 an owner record that the disk does not give for now is taken for no damage: it may name one that lives elsewhere", () => {
  claim(real);
  let refusals = 0;
  const refusing: FileSystem = {
    ...nodeFileSystem,
    open: (path, flags, mode) => {
      if (!path.endsWith("/owner/1.json")) return nodeFileSystem.open(path, flags, mode);
      refusals += 1;
      throw Object.assign(new Error("the disk hiccups"), { code: "EIO" });
    },
  };
  expect(claim(observing(gone), { fs: refusing })).toMatchObject({
    kind: "refused",
    state: { kind: "unknown", why: expect.stringContaining("EIO") },
  });
  expect([refusals, readdirSync(`${home}/owner`)]).toEqual([3, ["1.json"]]);
});

it("I104 what has an older owner's name and is no record keeps nobody from the home", () => {
  mkdirSync(`${home}/owner/1.json`);
  expect(epochOf(claim(real))).toBe(2);
});

it("I140 I146 an owner writes its own record again where it was emptied, and nobody else's", () => {
  const first = claim(real);
  if (first.kind !== "claimed") throw new Error(first.state.kind);
  writeFileSync(`${home}/owner/1.json`, "");
  first.ownership.heal();
  expect(topOwner(nodeFileSystem, home)).toMatchObject({ kind: "found", record: { identity: self } });
  writeFileSync(`${home}/owner/2.json`, "");
  first.ownership.heal();
  expect(readFileSync(`${home}/owner/2.json`, "utf8")).toBe("");
});
