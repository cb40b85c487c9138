import { createHash } from "node:crypto";
import { assert } from "vitest";
import {
  openSimulated,
  SIMULATED_DIRECTORY as DIRECTORY,
  SIMULATED_KINDS,
  type SimulatedKind,
  SimulatedDisk,
  simulatedOptions,
} from "../testing/index.ts";
import type { JournalReport } from "../types.ts";
import { digestOf } from "./evidence.ts";
import { type Damage, quarantineJournal, type QuarantineOptions } from "./quarantine.ts";
import { readJournal } from "./read.ts";

export const segmentPath = (segment: number): string => `${DIRECTORY}/e${String(segment).padStart(8, "0")}.jsonl`;
export const prompt = (operationId: string, detail = {}) =>
  ({ operationId, generation: "g1", kind: "prompt", detail }) as const;
export const report = (disk: SimulatedDisk): JournalReport => readJournal(DIRECTORY, SIMULATED_KINDS, disk);
export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** A disk on which all is durable, with whatever somebody has done to it. */
export async function diskWith(harm: (disk: SimulatedDisk) => void | Promise<void>): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk();
  const journal = await openSimulated(disk);
  for (const id of ["a", "b", "c"]) await journal.begin(prompt(id));
  // The mark behind the last record is never synced.
  disk.plant(segmentPath(1), disk.contentOf(segmentPath(1)));
  await harm(disk);
  const fd = disk.open(DIRECTORY, 0);
  disk.fsync(fd);
  disk.close(fd);
  return disk;
}

export function flip(disk: SimulatedDisk, path: string, at = '"begin"'): void {
  const bytes = disk.contentOf(path);
  bytes[bytes.indexOf(at) + 2] = 0;
  disk.plant(path, bytes);
}

export function damageOf(disk: SimulatedDisk): Damage {
  const found = report(disk);
  if (found.kind === "fresh") return { why: "missing", path: DIRECTORY, sha256: null };
  assert(found.kind === "refused" && (found.why === "corrupt" || found.why === "oversize"));
  return { why: found.why, path: found.path, sha256: digestOf(found.path, disk) };
}

export const optionsFor = (disk: SimulatedDisk, seen: Damage): QuarantineOptions<SimulatedKind> => ({
  ...simulatedOptions(disk),
  probeOwner: () => "gone",
  seen,
  reason: "the disk was replaced",
});
export const quarantine = (disk: SimulatedDisk, seen: Damage = damageOf(disk)) =>
  quarantineJournal(optionsFor(disk, seen));
