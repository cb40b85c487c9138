import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { afterEach, beforeEach, expect, it } from "vitest";
import { MAX_EPOCH, descriptorPath } from "./descriptor.ts";
import { highestEpoch, readWorkerFiles } from "./descriptor-files.ts";
import { prepareHome } from "./home.ts";
import { claimFor } from "./main.ts";
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

it("I131 I147 a descriptor of another home that is there is of a copy, under whatever name; of one that is gone, of a home that moved", () => {
  const other = join(home, "..", "other");
  prepareHome(nodeFileSystem, other);
  const placed = (at: string): void => {
    const lifeline = JSON.stringify(`${at}/run/0b0e4a3e-3c53.alive`);
    const text = ours.replace(/"lifelinePath":\s*(?:null|"[^"]*")/, `"lifelinePath":${lifeline}`);
    writeFileSync(descriptorPath(home, sessionId), text);
  };
  const read = (): unknown => readWorkerFiles(nodeFileSystem, home).descriptors[0];
  placed(other);
  expect(read()).toMatchObject({ kind: "damaged", reason: expect.stringContaining(other), epoch: 7 });
  symlinkSync(home, join(home, "..", "alias"));
  for (const same of [home, join(home, "..", "alias"), join(home, "..", "moved")]) {
    placed(same);
    expect(read()).toMatchObject({ kind: "descriptor" });
  }
});
