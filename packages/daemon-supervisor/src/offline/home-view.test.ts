import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { VERSION } from "@holdfast/client/protocol";
import { createObserver } from "@holdfast/shared-process";
import type { FoundProcess } from "@holdfast/shared-process";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { viewHome } from "./home-view.ts";

const identity = createObserver().self();
const self: FoundProcess = { identity, command: "holdfastd", ppid: 1, values: {} };
let root: string;
let home: string;

beforeEach(() => {
  root = mkdtempSync(`${tmpdir()}/hf-view-`);
  home = `${root}/h`;
  for (const folder of ["owner", "workers", "sessions"]) mkdirSync(`${home}/${folder}`, { recursive: true });
  const paths = { home, lifelinePath: null, socketPath: null };
  const record = { schemaVersion: 1, epoch: 2, identity, version: VERSION, phase: "serving", claimedAt: "", ...paths };
  writeFileSync(`${home}/owner/2.json`, JSON.stringify(record));
});

afterEach(() => rmSync(root, { recursive: true }));

it("I104 a home that cannot be read says so, and what can be read of it is there", () => {
  rmSync(`${home}/workers`, { recursive: true });
  writeFileSync(`${home}/workers`, "no directory");
  const seen = viewHome(home, [self]);
  expect(seen).toMatchObject({ owner: { kind: "alive" }, lost: [], workers: [] });
  expect(seen.problems).toEqual([expect.stringContaining("ENOTDIR")]);
  rmSync(`${home}/owner`, { recursive: true });
  writeFileSync(`${home}/owner`, "no directory");
  expect(viewHome(home, [])).toMatchObject({
    owner: { kind: "unknown" },
    problems: [expect.anything(), expect.anything()],
  });
});

it("I108 a supervisor that holds the home and is not its recorded owner has lost it", () => {
  const other = { ...self, identity: { ...identity, startTicks: "1" } };
  expect(viewHome(home, [self, other]).lost).toEqual([other]);
});

it("I147 a copied home has not the daemon of the original, another spelling of it has", () => {
  cpSync(home, `${root}/copy`, { recursive: true });
  symlinkSync(home, `${root}/link`);
  expect(viewHome(`${root}/link`, []).owner.kind).toBe("alive");
  const { owner, problems } = viewHome(`${root}/copy`, []);
  expect([owner.kind, problems]).toEqual(["unknown", [expect.stringContaining("is a copy of that of")]]);
});

it("I131 I147 whose daemon the owner is, is told by the lifeline that it holds: the record's home may have been moved, and a copy be there", () => {
  const moved = `${root}/moved`;
  cpSync(home, moved, { recursive: true });
  mkdirSync(`${moved}/run`);
  const held = openSync(`${moved}/run/owner-1.alive`, "w");
  onTestFinished(() => closeSync(held));
  expect(viewHome(home, []).owner).toMatchObject({
    kind: "unknown",
    why: expect.stringContaining("is a copy of that of"),
  });
  expect(viewHome(moved, []).owner).toMatchObject({ kind: "alive", record: { home: moved } });
});

it("I142 a damaged descriptor and one without a session are for a person, a bare name is for the next stop", () => {
  const [damaged, bare] = ["0b0e4a3e-3c53-4b3f-8f3c-3d7f0c7f3a11", "0b0e4a3e-3c53-4b3f-8f3c-3d7f0c7f3a12"];
  writeFileSync(`${home}/workers/${damaged}.json`, "damage");
  writeFileSync(`${home}/workers/${bare}.${damaged}.stop`, "");
  const quarantined = [{ sessionId: damaged, reason: "its descriptor is not JSON" }];
  expect(viewHome(home, [])).toMatchObject({ quarantined, bare: [bare], problems: [expect.stringContaining(damaged)] });
});

/** The worker of these descriptors is this process: what is kept says that it runs. */
const RUNS = `; its worker, process ${process.pid}, runs on`;

it("I117 a session whose record could not be looked for, or not be read, is not said to have none", () => {
  const sessionId = "0b0e4a3e-3c53-4b3f-8f3c-3d7f0c7f3a11";
  writeFileSync(`${home}/workers/${sessionId}.json`, JSON.stringify(descriptorOf(sessionId)));
  const why = (): string[] => viewHome(home, []).quarantined.map(({ reason }) => reason);
  expect(why()).toEqual([`it has a worker record but no session record${RUNS}`]);
  mkdirSync(`${home}/sessions/${sessionId}`);
  writeFileSync(`${home}/sessions/${sessionId}/session.json`, "damage");
  expect(why()).toEqual([`session.json is not JSON${RUNS}`]);
  rmSync(`${home}/sessions`, { recursive: true });
  writeFileSync(`${home}/sessions`, "no directory");
  expect(why()).toEqual([`its session record could not be looked for${RUNS}`]);
});

function descriptorOf(sessionId: string) {
  const paths = { socketPath: "/s", lifelinePath: null };
  const process = { generation: "g", identity, token: "t", marker: "k", ...paths };
  return { schemaVersion: 2, epoch: 2, updatedAt: "", sessionId, lifecycle: "ready", process, launches: [] };
}
