import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import type { OwnerRecord } from "@holdfast/client/protocol";
import { createLifeline, createObserver, holdLifeline, spawnGated } from "@holdfast/shared-process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SUPERVISOR_TITLE, homesHeldBy, isNested, isRecordedSupervisor } from "./recorded-supervisor.ts";

const identity = createObserver().self();
let home: string;
let held: Disposable;

beforeEach(async () => {
  home = mkdtempSync(`${tmpdir()}/hf-recorded-`);
  for (const folder of ["run", "owner"]) mkdirSync(`${home}/${folder}`);
  await createLifeline(`${home}/run/owner-1.alive`);
  held = holdLifeline(`${home}/run/owner-1.alive`);
});

afterEach(() => {
  held[Symbol.dispose]();
  rmSync(home, { recursive: true });
});

function record(named: OwnerRecord["identity"], phase: OwnerRecord["phase"] = "serving"): void {
  const paths = { home, lifelinePath: `${home}/run/owner-1.alive`, socketPath: null };
  const owner = { schemaVersion: 1, epoch: 3, identity: named, version: "1", claimedAt: "", phase, ...paths };
  writeFileSync(`${home}/owner/3.json`, JSON.stringify(owner));
}

const isSpared = (command = SUPERVISOR_TITLE): boolean => isRecordedSupervisor({ identity, command });

describe("a process with the supervisor's title", () => {
  it("I153 is spared when the home whose lifeline it holds names it as its owner", () => {
    record(identity);
    expect(homesHeldBy(identity.pid)).toMatchObject({ readable: true, lifelines: [home], all: [home] });
    expect([isSpared(), isSpared("node")]).toEqual([true, false]);
  });

  it("is not spared for its title alone, nor for a record that names another or says stopped", () => {
    expect(isSpared()).toBe(false);
    record({ ...identity, startTicks: "1", pidfsInode: "1" });
    expect(isSpared()).toBe(false);
    record(identity, "stopped");
    expect(isSpared()).toBe(false);
    record(identity);
    held[Symbol.dispose]();
    expect(isSpared()).toBe(false);
  });

  it("I134 is spared when the record of the home that it holds cannot be understood", () => {
    writeFileSync(`${home}/owner/4.json`, "damage");
    expect(isSpared()).toBe(true);
    record({ ...identity, pidNamespace: "pid:[1]", pidfsInode: null });
    rmSync(`${home}/owner/4.json`);
    expect(isSpared()).toBe(true);
  });
});

it.each<[string, Record<string, string>, string, boolean]>([
  ["a home, with a supervisor's errors open", { HOLDFAST_HOME: "/h" }, "supervisor.err", true],
  [
    "a home and a generation, as a worker's does",
    { HOLDFAST_HOME: "/h", HOLDFAST_GENERATION: "g" },
    "worker.err",
    true,
  ],
  ["a home, as anybody's may", { HOLDFAST_HOME: "/h" }, "worker.err", false],
  [
    "a session as well, as that of an agent that was given a home does",
    { HOLDFAST_HOME: "/h", HOLDFAST_GENERATION: "g", HOLDFAST_SESSION: "m" },
    "supervisor.err",
    false,
  ],
  ["neither", {}, "supervisor.err", false],
])("I153 I145 a process whose environment names %s", async (_title, names, errors, nested) => {
  mkdirSync(`${home}/logs`);
  const standardError = openSync(`${home}/logs/${errors}`, "a");
  const env = { PATH: process.env["PATH"] ?? "", ...names };
  const launched = await spawnGated({ command: "sleep", args: ["100"], env, cwd: "/", standardError });
  closeSync(standardError);
  if (launched.kind === "failed") throw new Error(launched.message);
  const { process: sleeper } = launched;
  const found = isNested({ identity: sleeper.identity, command: "sleep" });
  await sleeper.signal("SIGKILL");
  await sleeper.discard();
  expect(found).toBe(nested);
});
