import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem, openJournal } from "@holdfast/recovery-journal";
import type { JsonObject } from "@holdfast/recovery-journal";
import { createLifeline, createObserver, holdLifeline } from "@holdfast/shared-process";
import type { EnvironmentScan, FoundProcess } from "@holdfast/shared-process";
import { operationKinds, sessionDirectory } from "@holdfast/session-worker/transport";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { prepareHome } from "./home.ts";
import { lifeOf } from "./life.ts";
import type { Life } from "./life.ts";

const ID = "01a2aaaa-0000-7000-8000-000000000001";
const GENERATION = "0b0e4a3e-3c53-4b3f-8f3c-3d7f0c7f3a11";
const observer = createObserver();
const self = observer.self();
const dead = { ...self, startTicks: "1", pidfsInode: null };
const hidden = { ...self, pidNamespace: "pid:[999]", pidfsInode: null };
let home: string;

const worker = (of: string): FoundProcess => ({
  identity: dead,
  command: "node",
  ppid: 1,
  values: { HOLDFAST_HOME: of, HOLDFAST_GENERATION: GENERATION },
});

beforeEach(() => {
  home = join(mkdtempSync(join(tmpdir(), "hf-life-")), "home");
  prepareHome(nodeFileSystem, home);
  mkdirSync(sessionDirectory(home, ID), { mode: 0o700 });
  writeFileSync(`${home}/workers/${ID}.json`, "damage");
});
afterEach(() => rmSync(join(home, ".."), { recursive: true }));

function look(processes: readonly FoundProcess[] = [], problem?: string): Life {
  const common = { processes, unreadable: 0, usageOf: () => null, ancestorsOf: () => [] };
  const scan: EnvironmentScan =
    problem === undefined ? { kind: "complete", ...common } : { kind: "incomplete", problem, ...common };
  const descriptors = [{ kind: "damaged", sessionId: ID, reason: "bad", epoch: 0 }] as const;
  return lifeOf({ home, fs: nodeFileSystem, observer, scan, descriptors }, ID);
}

async function writtenBy(identity: JsonObject): Promise<void> {
  const opened = await openJournal({
    directory: `${sessionDirectory(home, ID)}/journal`,
    owner: { generation: GENERATION, identity },
    kinds: operationKinds,
    probeOwner: () => "gone",
  });
  expect(opened.kind).toBe("opened");
}

it("is gone where all that can be seen agrees", async () => {
  expect(look()).toEqual({ kind: "gone" });
  await writtenBy({ ...dead });
  expect(look()).toEqual({ kind: "gone" });
});

it.each([
  { what: "runs", identity: { ...self }, kind: "alive" },
  { what: "cannot be observed", identity: { ...hidden }, kind: "unknown" },
  { what: "is not said", identity: {}, kind: "unknown" },
])("I100 I144 goes by the journal's writer, who $what", async ({ identity, kind }) => {
  await writtenBy(identity);
  expect(look()).toMatchObject({ kind });
});

it("I81 goes by what is still legible of a damaged descriptor", () => {
  const path = `${home}/workers/${ID}.json`;
  writeFileSync(path, JSON.stringify({ process: { identity: self, lifelinePath: null } }));
  expect(look()).toMatchObject({ kind: "alive" });
  writeFileSync(path, JSON.stringify({ process: { identity: hidden, lifelinePath: null } }));
  expect(look()).toMatchObject({ kind: "unknown" });
});

it("I117 a scan that is not whole proves nothing, and a worker that no record names may be this one's", () => {
  expect(look([], "hidepid")).toMatchObject({ kind: "unknown", why: expect.stringContaining("hidepid") });
  expect(look([worker(home)])).toMatchObject({ kind: "unknown" });
  expect(look([worker("/another")])).toEqual({ kind: "gone" });
});

it("I164 a lifeline that is held and that no record explains may be its worker's, wherever that runs", async () => {
  const path = `${home}/run/0b0e4a3e-3c53.alive`;
  await createLifeline(path);
  expect(look()).toEqual({ kind: "gone" });
  const held = holdLifeline(path);
  onTestFinished(() => held[Symbol.dispose]());
  expect(look()).toMatchObject({ kind: "unknown", why: expect.stringContaining(path) });
});

it("I81 I144 an older record that proves nothing of its process does not prove it gone", () => {
  const older = { version: 1, workerId: ID, socketPath: "/x", authenticationToken: "t", lifecycle: "ready" };
  const write = (more: object): void =>
    writeFileSync(`${home}/workers/${ID}.json`, JSON.stringify({ ...older, ...more }));
  write({ pid: process.pid });
  expect(look()).toMatchObject({ kind: "unknown", why: expect.stringContaining(String(process.pid)) });
  write({ pid: process.pid, processStartId: `proc:${self.bootId}:${self.startTicks}` });
  expect(look()).toMatchObject({ kind: "alive" });
  write({ pid: process.pid, authenticationToken: undefined });
  expect(look()).toMatchObject({ kind: "unknown" });
  write({ pid: process.pid, lifecycle: "passivated" });
  expect(look()).toEqual({ kind: "gone" });
});

it("I131 I147 the worker of another home, of whose files this home has a copy, is not this session's", async () => {
  const original = `${home}-original`;
  prepareHome(nodeFileSystem, original);
  const path = `${home}/workers/${ID}.json`;
  writeFileSync(path, JSON.stringify({ process: { identity: self, lifelinePath: null } }));
  await writtenBy({ ...self });
  expect(look([{ ...worker(home), identity: self }])).toMatchObject({ kind: "alive" });
  expect(look([{ ...worker(original), identity: self }])).toEqual({ kind: "gone" });
});

it("I131 I147 the daemon of another home that writes what this one has a copy of is not this session's", async () => {
  const original = `${home}-original`;
  prepareHome(nodeFileSystem, original);
  await writtenBy({ ...self });
  const supervisor: FoundProcess = { identity: self, command: "holdfastd", ppid: 1, values: {} };
  expect(look([supervisor])).toMatchObject({ kind: "alive" });
  const held = openSync(`${original}/run/owner-1.alive`, "w");
  onTestFinished(() => closeSync(held));
  expect(look([supervisor])).toEqual({ kind: "gone" });
});
