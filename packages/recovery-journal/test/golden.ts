import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readLegacyJournal } from "../src/legacy/read-legacy.ts";
import { digestOf } from "../src/journal/evidence.ts";
import { quarantineJournal } from "../src/journal/quarantine.ts";
import { readJournal } from "../src/journal/read.ts";
import {
  openSimulated,
  SIMULATED_DIRECTORY,
  SIMULATED_KINDS,
  type SimulatedKind,
  SimulatedDisk,
  simulatedOptions,
} from "../src/testing/index.ts";
import type { Journal, OpenJournalOptions } from "../src/types.ts";

/** One directory for each case: the files of a journal, and `verdict.json`, what a reader says of them. */
export const goldenRoot = fileURLToPath(new URL("../golden/", import.meta.url));
export const VERDICT = "verdict.json";

export type Files = Readonly<Record<string, Buffer>>;

/** The files of a case as they are in the repository, without its verdict. */
export function goldenFiles(name: string): Files {
  const names = readdirSync(goldenRoot + name).filter((file) => file !== VERDICT);
  return Object.fromEntries(names.map((file) => [file, readFileSync(`${goldenRoot}${name}/${file}`)]));
}

/** What a reader says of these files, with names in place of paths. */
export function verdictOn(files: Files): unknown {
  const disk = diskOf(files);
  const report =
    LEGACY_NAME in files
      ? readLegacyJournal(`${SIMULATED_DIRECTORY}/${LEGACY_NAME}`, disk)
      : readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, disk);
  return JSON.parse(JSON.stringify(report).replaceAll(`${SIMULATED_DIRECTORY}/`, ""));
}

function diskOf(files: Files): SimulatedDisk {
  const disk = new SimulatedDisk();
  disk.mkdir(SIMULATED_DIRECTORY, 0o700);
  for (const [name, bytes] of Object.entries(files)) disk.plant(`${SIMULATED_DIRECTORY}/${name}`, bytes);
  return disk;
}

const LEGACY_NAME = "activity.jsonl";
const FIRST = "e00000001.jsonl";
const SECOND = "e00000002.jsonl";

/** The cases as the writer makes them now. Salts and times are fixed, so that every byte is. */
export async function madeNow(): Promise<Readonly<Record<string, Files>>> {
  const whole = await written(work);
  const [before, claim] = await claimed();
  const corrupt = changed(whole, '"t":"note"', (bytes, at) => void bytes.write("T", at + 1));
  return {
    "v1/whole": { [LEGACY_NAME]: legacyLines() },
    "v1/torn": { [LEGACY_NAME]: legacyLines().subarray(0, -40) },
    "v1/corrupt": { [LEGACY_NAME]: changed(legacyLines(), '"busy":false', (bytes, at) => bytes.fill(0, at, at + 4)) },
    "v2/fresh": { [FIRST]: await written(async () => {}) },
    "v2/at-work": { [FIRST]: whole },
    "v2/released": { [FIRST]: await written(release) },
    "v2/remembered": { [FIRST]: await written(remember) },
    "v2/claimed": { [SECOND]: claim },
    "v2/unfinished-claim": {
      [FIRST]: before,
      [SECOND]: changed(claim, '{"s":2', (bytes, at) => bytes.fill("\n", at + 20)),
    },
    "v2/torn": { [FIRST]: changed(whole, '\n{"d":7,"t":"mark"', (bytes, at) => void bytes.write(TORN, at)) },
    "v2/corrupt": { [FIRST]: corrupt },
    "v2/quarantined": filesOf(await putAside(corrupt)),
    "v2/resolved": filesOf(await resolved(await putAside(corrupt))),
  };
}

/** Longer than the mark that it overwrites. */
const TORN = '{"s":8,"d":7,"t":"begin","ops":[{"id":"op-6","g":"gen-1","k":"pro';

async function opened(disk: SimulatedDisk, opening: number): Promise<Journal<SimulatedKind>> {
  return await openSimulated(disk, fixed(opening));
}

function fixed(opening: number): Pick<OpenJournalOptions<SimulatedKind>, "owner" | "newSalt" | "now"> {
  return {
    owner: { generation: `gen-${opening}`, identity: { pid: 4711 } },
    newSalt: () => `a1b2c30${opening}`,
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  };
}

/** The first segment after this was done to a new journal. */
async function written(steps: (journal: Journal<SimulatedKind>) => Promise<void>): Promise<Buffer> {
  const disk = new SimulatedDisk();
  await steps(await opened(disk, 1));
  return disk.contentOf(`${SIMULATED_DIRECTORY}/${FIRST}`);
}

/** Before and after the next owner's claim. */
async function claimed(): Promise<readonly [before: Buffer, claim: Buffer]> {
  const disk = new SimulatedDisk();
  const journal = await opened(disk, 1);
  await work(journal);
  await remember(journal);
  const before = disk.contentOf(`${SIMULATED_DIRECTORY}/${FIRST}`);
  await opened(disk, 2);
  return [before, disk.contentOf(`${SIMULATED_DIRECTORY}/${SECOND}`)];
}

/** A disk on which a damaged segment was put in quarantine. */
async function putAside(damaged: Buffer): Promise<SimulatedDisk> {
  const disk = diskOf({ [FIRST]: damaged });
  const path = `${SIMULATED_DIRECTORY}/${FIRST}`;
  const seen = { why: "corrupt", path, sha256: digestOf(path, disk) } as const;
  await quarantineJournal({
    ...simulatedOptions(disk, fixed(2)),
    probeOwner: () => "gone",
    seen,
    reason: "the disk was replaced",
  });
  return disk;
}

/** The next owner settles it: its snapshot still has the quarantine. */
async function resolved(disk: SimulatedDisk): Promise<SimulatedDisk> {
  const journal = await opened(disk, 3);
  const decision = { decision: "nothing was under way" };
  for (const { id } of journal.quarantines()) await journal.resolveQuarantine(id, decision);
  return disk;
}

function filesOf(disk: SimulatedDisk): Files {
  const names = disk.readdir(SIMULATED_DIRECTORY).toSorted();
  return Object.fromEntries(names.map((name) => [name, disk.contentOf(`${SIMULATED_DIRECTORY}/${name}`)]));
}

async function release(journal: Journal<SimulatedKind>): Promise<void> {
  await journal.begin({ operationId: "op-1", generation: "gen-1", kind: "prompt" });
  await journal.close();
}

/** Begin, note, end, and a list that begins at once. */
async function work(journal: Journal<SimulatedKind>): Promise<void> {
  const generation = "gen-1";
  const detail = { title: "grüße 👋", count: 1 };
  const first = await journal.begin({ operationId: "op-1", generation, kind: "prompt", detail });
  await journal.note(first, { step: "dispatched" });
  const second = await journal.begin({ operationId: "op-2", generation, kind: "tool" });
  await journal.end(second, { kind: "completed" });
  const restored = ["op-3", "op-4"].map((operationId) => ({
    operationId,
    generation,
    kind: "restored-action" as const,
  }));
  await journal.restore(restored);
  await journal.begin({ operationId: "op-5", generation, kind: "tool" });
}

/** A request that is settled, one whose operation is open, and one that opened none. */
async function remember(journal: Journal<SimulatedKind>): Promise<void> {
  const admit = (number: number) =>
    journal.admit(
      { operationId: `asked-${number}`, generation: "gen-1", kind: "prompt" },
      { requestId: `req-${number}`, hash: `hash-${number}` },
    );
  await journal.end(await admit(1), { kind: "completed" });
  await admit(2);
  await journal.remember({ requestId: "req-3", hash: "hash-3", outcome: { kind: "done" } });
}

/** A session that is busy and was not, one the other way round, and lines of version 2 with and without an end. */
function legacyLines(): Buffer {
  const ofB = { sessionFile: "/sessions/b.jsonl" };
  const lines = [
    legacyLine("a", false, { operation: "ready" }),
    legacyLine("b", true, { ...ofB, operation: "prompt" }),
    legacyLine("c", true, { ...secondVersion(2), operation: "prompt" }),
    legacyLine("c", true, { ...secondVersion(3), operation: "turn_start" }),
    legacyLine("c", false, { ...secondVersion(2), operation: "prompt" }),
    legacyLine("a", true, { operation: "turn_start" }),
    legacyLine("b", false, { ...ofB, operation: "turn_end" }),
  ];
  return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

function legacyLine(activeSessionId: string, busy: boolean, more: object): object {
  const session = { version: 1, activeSessionId, sessionId: `session-${activeSessionId}`, busy };
  return { ...session, ...more, recordedAt: "2026-01-02T03:04:05.678Z" };
}

function secondVersion(digit: number): object {
  return { version: 2, operationId: uuid(digit), generation: uuid(9) };
}

function uuid(digit: number): string {
  return "11111111-1111-4111-8111-111111111111".replaceAll("1", String(digit));
}

function changed(bytes: Buffer, at: string, change: (bytes: Buffer, place: number) => void): Buffer {
  const copy = Buffer.from(bytes);
  const place = copy.indexOf(at);
  if (place === -1) throw new Error(`no ${at}`);
  change(copy, place);
  return copy;
}
