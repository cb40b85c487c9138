import { readPatiently } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { basename } from "node:path";
import { errnoOf } from "@holdfast/shared-process";
import {
  DESCRIPTOR_FILE,
  DESCRIPTOR_VERSION,
  INTENT_FILE,
  MAX_EPOCH,
  descriptorPath,
  descriptorSchema,
} from "./descriptor.ts";
import type { Descriptor } from "./descriptor.ts";
import { readOlder } from "./older/form.ts";
import type { OlderRecord } from "./older/form.ts";
import { ownLifeline, workersFolder } from "./home.ts";
import { originalOf } from "./originals.ts";
import { isGoal, isStronger } from "./lifecycle/state.ts";
import type { StopIntent } from "./lifecycle/state.ts";
import type { KnownIntents } from "./records.ts";
import { readSessionRecord } from "./session-record-file.ts";
import type { SessionRecord } from "@holdfast/session-worker/transport";

export const MAX_DESCRIPTOR_BYTES = 256 * 1024;

export type DescriptorRead =
  | { readonly kind: "descriptor"; readonly sessionId: string; readonly descriptor: Descriptor }
  /** Of the program that Holdfast descends from: what it says is to be proven first (I81). */
  | { readonly kind: "older"; readonly sessionId: string; readonly record: OlderRecord }
  | {
      readonly kind: "damaged";
      readonly sessionId: string;
      readonly reason: string;
      /** What it still says of one, 0 if nothing. */
      readonly epoch: number;
    };

export interface BareIntent {
  readonly intent: StopIntent;
  readonly paths: readonly string[];
}

export interface WorkerFiles {
  readonly descriptors: readonly DescriptorRead[];
  /** Intents that had to be written as bare names because the disk was full, also those that count no more: `standingIntents`. */
  readonly intents: ReadonlyMap<string, BareIntent>;
}

/** Reads every descriptor of a home; a bad one is a row of its own and never fails the rest (I104, I142). */
export function readWorkerFiles(fs: FileSystem, home: string): WorkerFiles {
  let names: string[];
  try {
    names = fs.readdir(workersFolder(home));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return { descriptors: [], intents: new Map() };
    throw error;
  }
  const descriptors = names
    .map((name) => DESCRIPTOR_FILE.exec(name)?.[1])
    .filter((sessionId) => sessionId !== undefined)
    .map((sessionId) => readDescriptor(fs, home, sessionId));
  const intents = new Map<string, BareIntent>();
  for (const name of names) {
    const sessionId = INTENT_FILE.exec(name)?.[1];
    if (sessionId === undefined) continue;
    const bare = bareIntentOf([...(intents.get(sessionId)?.paths ?? []), `${workersFolder(home)}/${name}`]);
    if (bare) intents.set(sessionId, bare);
  }
  return { descriptors, intents };
}

/** What bare names of one session say: of several that a crash left, the strongest counts. */
export function bareIntentOf(paths: readonly string[]): BareIntent | null {
  const intents = paths.flatMap((path) => {
    const [, , stopId, goal] = INTENT_FILE.exec(basename(path)) ?? [];
    if (stopId === undefined || goal === undefined || !isGoal(goal)) return [];
    return [{ stopId, goal, requestedAt: new Date(0).toISOString(), force: false }];
  });
  const [first, ...others] = intents;
  if (!first) return null;
  return { intent: others.reduce((a, b) => (isStronger(b.goal, a.goal) ? b : a), first), paths };
}

/** Bare names that count, and those that the record was written over. */
export function sortNames(
  names: readonly string[],
  { overtaken = [] }: Pick<SessionRecord, "overtaken">,
): KnownIntents {
  const isOvertaken = (path: string): boolean => overtaken.some((stopId) => path.includes(`.${stopId}.`));
  return { standing: names.filter((path) => !isOvertaken(path)), overtaken: names.filter(isOvertaken) };
}

/** For those who look without owning the home: the intents that count by their sessions' records as these are now (I129). */
export function standingIntents(fs: FileSystem, home: string, { intents }: WorkerFiles): WorkerFiles["intents"] {
  const standing = [...intents].flatMap(([sessionId, { paths }]) => {
    const read = readSessionRecord(fs, home, sessionId);
    const bare = bareIntentOf(read?.kind === "record" ? sortNames(paths, read.record).standing : paths);
    return bare === null ? [] : [[sessionId, bare] as const];
  });
  return new Map(standing);
}

function readDescriptor(fs: FileSystem, home: string, sessionId: string): DescriptorRead {
  const read = readPatiently(fs, descriptorPath(home, sessionId), MAX_DESCRIPTOR_BYTES);
  const text = read.kind === "read" ? Buffer.from(read.bytes).toString("utf8") : "";
  const damaged = (reason: string): DescriptorRead => ({ kind: "damaged", sessionId, reason, epoch: epochIn(text) });
  if (read.kind !== "read") return damaged(`its descriptor is ${read.kind}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The bytes stay as evidence; the parser's words say nothing more.
    return damaged("its descriptor is not JSON");
  }
  const older = readOlder(value, sessionId);
  if (older.kind === "older") return { kind: "older", sessionId, record: older.record };
  if (older.kind === "incomplete") return damaged(`its descriptor, of an older form, is incomplete: ${older.path}`);
  if (older.kind === "another") return damaged("its descriptor names another session");
  const parsed = descriptorSchema.safeParse(value);
  if (!parsed.success) return damaged(`its descriptor is incomplete: ${parsed.error.issues[0]?.path.join(".") ?? ""}`);
  if (parsed.data.schemaVersion !== DESCRIPTOR_VERSION)
    return damaged(`its descriptor has version ${parsed.data.schemaVersion}`);
  if (parsed.data.sessionId !== sessionId) return damaged("its descriptor names another session");
  const original = originalOf(fs, home, parsed.data);
  if (original !== null) return damaged(`its worker is one of ${original}, of which this home is a copy`);
  return { kind: "descriptor", sessionId, descriptor: here(home, parsed.data) };
}

/** In a home that was moved its record still names the lifeline where it was, and a copy may lie there. */
function here(home: string, descriptor: Descriptor): Descriptor {
  const { lifelinePath } = descriptor.process;
  if (lifelinePath === null) return descriptor;
  return { ...descriptor, process: { ...descriptor.process, lifelinePath: ownLifeline(home, lifelinePath) } };
}

/** A floor may be too high and never too low: also what is not understood otherwise is believed here (I165). */
function epochIn(text: string): number {
  const named = [...text.matchAll(/"epoch":\s*(\d+)/g)].map(([, digits]) => Number(digits));
  return Math.max(0, ...named.filter((epoch) => epoch <= MAX_EPOCH));
}

/** The highest epoch that a descriptor names. */
export const highestEpoch = ({ descriptors }: WorkerFiles): number => Math.max(0, ...descriptors.map(epochOf));

function epochOf(read: DescriptorRead): number {
  switch (read.kind) {
    case "descriptor":
      return read.descriptor.epoch;
    case "damaged":
      return read.epoch;
    case "older":
      return 0;
  }
}
