import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { createLifeline, createObserver, holdLifeline } from "@holdfast/shared-process";
import type { ProcessIdentity } from "@holdfast/shared-process";
import { sessionDirectory, verdictOf } from "@holdfast/session-worker/transport";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { MAX_EPOCH, descriptorPath } from "./descriptor.ts";
import { highestEpoch, readWorkerFiles } from "./descriptor-files.ts";
import type { DescriptorRead } from "./descriptor-files.ts";
import { prepareHome } from "./home.ts";
import { claimFor } from "./main.ts";
import { viewHome } from "./offline/home-view.ts";
import { heldBy } from "./worker-process.ts";
import { sweepRunFiles } from "./run-files.ts";
import { systemWorld } from "./world.ts";

const golden = join(import.meta.dirname, "..", "golden");
const sessionId = "01a2aaaa-0000-7000-8000-000000000001";
const ours = readFileSync(join(golden, "descriptor-v2.json"), "utf8");
let home: string;
beforeEach(() => {
  home = join(mkdtempSync(join(tmpdir(), "descriptors-")), "home");
  prepareHome(nodeFileSystem, home);
});
afterEach(() => rmSync(join(home, ".."), { recursive: true }));

const floorWith = (text: string): number => {
  writeFileSync(descriptorPath(home, sessionId), text);
  return highestEpoch(readWorkerFiles(nodeFileSystem, home));
};

it.each([
  ["whole", ours, 7],
  ["of a later version", ours.replace('"schemaVersion":2', '"schemaVersion":3'), 7],
  ["of another session", ours.replace(sessionId, "01a2aaaa-0000-7000-8000-000000000002"), 7],
  ["incomplete", ours.replace('"token"', '"talken"'), 7],
  ["torn behind its epoch", ours.slice(0, 120), 7],
  ["torn before it", ours.slice(0, 30), 0],
  ["empty", "", 0],
  ["garbage", "\u0001garbage{{{", 0],
  ["of an older form", readFileSync(join(golden, "worker-v1-flat.json"), "utf8"), 0],
  ["of an older form, with one", '{"version":9,"epoch":5}', 5],
  ["with one that is no name of a file", ours.replace('"epoch":7', `"epoch":${MAX_EPOCH + 1}`), 0],
  ["with one below all", ours.replace('"epoch":7', '"epoch":-7'), 0],
])("I165 a descriptor that is %s lowers no epoch", (_what, text, floor) => {
  expect(floorWith(text)).toBe(floor);
});

it.each([
  ["whole", ours],
  ["quarantined", ours.slice(0, 120)],
])("I165 a home whose owner records are lost is claimed above what a %s descriptor names", async (_what, text) => {
  writeFileSync(descriptorPath(home, sessionId), text);
  rmSync(join(home, "owner"), { recursive: true });
  const { claim } = await claimFor({ home, phase: "starting", world: systemWorld() });
  expect([claim.kind, readdirSync(join(home, "owner"))]).toEqual(["claimed", ["8.json"]]);
  if (claim.kind === "claimed") claim.ownership.leave();
});

it("I165 the epoch that a worker named counts beside those of the files, whichever is higher", async () => {
  writeFileSync(descriptorPath(home, sessionId), ours);
  const named = await claimFor({ home, phase: "starting", world: systemWorld(), namedEpoch: 40 });
  if (named.claim.kind !== "claimed") throw new Error(named.claim.kind);
  expect(named.claim.ownership.epoch).toBe(41);
  named.claim.ownership.leave();
  const next = await claimFor({ home, phase: "starting", world: systemWorld(), namedEpoch: 3 });
  if (next.claim.kind !== "claimed") throw new Error(next.claim.kind);
  expect(next.claim.ownership.epoch).toBe(42);
  next.claim.ownership.leave();
});

const LIFELINE = "run/0b0e4a3e-3c53.alive";
const anotherHome = (): string => {
  const other = join(home, "..", "other");
  prepareHome(nodeFileSystem, other);
  return other;
};

/** The record of a worker whose home was, or is, at a path. */
function recorded(at: string, identity?: ProcessIdentity): string {
  const text = ours.replace(
    /"lifelinePath":\s*(?:null|"[^"]*")/,
    `"lifelinePath":${JSON.stringify(`${at}/${LIFELINE}`)}`,
  );
  const value: { process: object } = JSON.parse(text);
  return JSON.stringify(identity ? { ...value, process: { ...value.process, identity } } : value);
}

const readIn = (of: string): DescriptorRead | undefined => readWorkerFiles(nodeFileSystem, of).descriptors[0];

it("I131 I147 a descriptor of another home that is there is of a copy, under whatever name; of one that is gone, of a home that moved", () => {
  const other = anotherHome();
  mkdirSync(sessionDirectory(other, sessionId));
  const placed = (at: string): void => writeFileSync(descriptorPath(home, sessionId), recorded(at));
  placed(other);
  expect(readIn(home)).toMatchObject({ kind: "damaged", reason: expect.stringContaining(other), epoch: 7 });
  symlinkSync(home, join(home, "..", "alias"));
  for (const same of [home, join(home, "..", "alias"), join(home, "..", "moved")]) {
    placed(same);
    expect(readIn(home)).toMatchObject({ kind: "descriptor" });
  }
});

it("I147 a home that was begun anew where this one was moved from is no original of a session that it does not know", () => {
  const fresh = anotherHome();
  writeFileSync(descriptorPath(home, sessionId), recorded(fresh));
  expect(readIn(home)).toMatchObject({ kind: "descriptor" });
  // It knows it: by its folder above, by its lifeline here.
  writeFileSync(`${fresh}/${LIFELINE}`, "");
  expect(readIn(home)).toMatchObject({ kind: "damaged", reason: expect.stringContaining(fresh) });
});

/** A worker without a kernel's id, which is this process, holds the lifeline of this home. */
async function heldHere(): Promise<ProcessIdentity> {
  await createLifeline(`${home}/${LIFELINE}`);
  const held = holdLifeline(`${home}/${LIFELINE}`);
  onTestFinished(() => held[Symbol.dispose]());
  return { ...createObserver().self(), pidfsInode: null };
}

it("I131 I144 I147 the copied lifeline at the recorded path does not prove the worker of a moved home gone, nor own it", async () => {
  const identity = await heldHere();
  const copy = anotherHome();
  await createLifeline(`${copy}/${LIFELINE}`);
  for (const of of [home, copy]) writeFileSync(descriptorPath(of, sessionId), recorded(copy, identity));
  const moved = readIn(home);
  if (moved?.kind !== "descriptor") throw new Error(moved?.kind);
  const { process } = moved.descriptor;
  expect(process.lifelinePath).toBe(`${home}/${LIFELINE}`);
  expect(verdictOf(createObserver(), process)).toEqual({ kind: "current", basis: "start-time" });
  expect(viewHome(home, []).workers).toMatchObject([{ verdict: "current" }]);
  expect(readIn(copy)).toMatchObject({ kind: "damaged", reason: expect.stringContaining(home) });
});

it("I124 the lifeline of a moved home's record is not swept: it is what the record names, where it is now", async () => {
  await createLifeline(`${home}/${LIFELINE}`);
  await createLifeline(`${home}/run/1b0e4a3e-3c53.alive`);
  writeFileSync(descriptorPath(home, sessionId), recorded(join(home, "..", "before")));
  sweepRunFiles(nodeFileSystem, home, { epoch: 1, files: readWorkerFiles(nodeFileSystem, home) });
  expect(readdirSync(`${home}/run`)).toEqual([basename(LIFELINE)]);
});

it("I131 I147 a copy of hard links, in which the lifeline is the same file, has not the worker of its original", async () => {
  const identity = await heldHere();
  const copy = anotherHome();
  linkSync(`${home}/${LIFELINE}`, `${copy}/${LIFELINE}`);
  mkdirSync(sessionDirectory(home, sessionId));
  for (const worker of [identity, undefined]) {
    for (const of of [home, copy]) writeFileSync(descriptorPath(of, sessionId), recorded(home, worker));
    expect(readIn(home)).toMatchObject({ kind: "descriptor" });
    expect(readIn(copy)).toMatchObject({ kind: "damaged", reason: expect.stringContaining(home) });
  }
});

it("I146 a worker whose lifeline was removed, and nothing tells where that was, is the one of the record's own home", async () => {
  const identity = await heldHere();
  rmSync(`${home}/run`, { recursive: true });
  const elsewhere = mkdtempSync("/dev/shm/run-");
  onTestFinished(() => rmSync(elsewhere, { recursive: true }));
  symlinkSync(elsewhere, `${home}/run`);
  writeFileSync(descriptorPath(home, sessionId), recorded(home, identity));
  expect(heldBy(identity.pid, basename(LIFELINE))).toMatchObject({ place: "unknown", isRemoved: true });
  expect(readIn(home)).toMatchObject({ kind: "descriptor" });
});
