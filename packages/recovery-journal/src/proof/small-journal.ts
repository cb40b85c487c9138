import { invariant } from "@holdfast/shared-process";
import { segmentName } from "../format.ts";
import { encodeLine, HEAD_SEED, LF } from "../format/line.ts";
import { quarantineJournal } from "../journal/quarantine.ts";
import { readJournal } from "../journal/read.ts";
import type { JournalReport } from "../types.ts";
import { openSimulated, SIMULATED_DIRECTORY, SIMULATED_KINDS, simulatedOptions } from "../testing/open-simulated.ts";
import { SimulatedDisk } from "../testing/simulated-disk.ts";

/**
 * Where a byte lies: `durable` records are covered by a later batch's watermark, `last` are those of the last batch, `end` the very
 * last one, `blank` is the empty line before the mark.
 */
export type Region = "head" | "snapshot" | "seal" | "durable" | "last" | "end" | "blank" | "mark" | "fill";
export type Damage = "cut" | "flip" | "nul" | "repeat" | "swap" | "delete" | "delete-and-fill";
export interface Line {
  /** With its `\n`. */
  readonly bytes: Buffer;
  readonly region: Region;
}

export interface SmallJournal {
  readonly disk: SimulatedDisk;
  readonly path: string;
  readonly lines: readonly Line[];
  readonly marked: boolean;
  /** What may be read where a part of the last batch is lost. */
  readonly lesser: readonly string[];
}

const FILL_BYTES = 48;
export interface Change {
  readonly name: string;
  readonly bytes: Buffer;
  readonly damage: Damage;
  /** The first byte of the old file that is not where it was. */
  readonly at: number;
}

export function regionAt(lines: readonly Line[], at: number): Region {
  let end = 0;
  for (const { bytes, region } of lines) {
    end += bytes.length;
    if (at < end) return region;
  }
  return "fill";
}

export function* cuts(bytes: Buffer): Generator<Change> {
  for (let at = 0; at < bytes.length; at += 1) {
    yield { name: `cut to ${at}`, bytes: bytes.subarray(0, at), damage: "cut", at };
  }
}

export function* flips(bytes: Buffer): Generator<Change> {
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    const at = bit >> 3;
    changed[at] = (changed[at] ?? 0) ^ (1 << (bit & 7));
    yield { name: `bit ${bit}`, bytes: changed, damage: "flip", at };
  }
}

export function* nuls(bytes: Buffer, size: number): Generator<Change> {
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes).fill(0, at, Math.min(at + size, bytes.length));
    yield { name: `${size} NULs at ${at}`, bytes: changed, damage: "nul", at };
  }
}

export function* lineChanges(lines: readonly Line[]): Generator<Change> {
  const all = lines.map(({ bytes }) => bytes);
  let at = 0;
  for (const [index, line] of all.entries()) {
    const [before, after] = [all.slice(0, index), all.slice(index + 1)];
    const [next, ...rest] = after;
    const change = (damage: Damage, changed: readonly Buffer[]): Change => {
      return { name: `${damage} line ${index}`, bytes: Buffer.concat(changed), damage, at };
    };
    yield change("repeat", [...before, line, line, ...after]);
    if (next !== undefined) yield change("swap", [...before, next, line, ...rest]);
    yield change("delete", [...before, ...after]);
    yield change("delete-and-fill", [...before, ...after, Buffer.alloc(line.length, LF)]);
    at += line.length;
  }
}

const key = (operationId: string) => ({ operationId, generation: "g1" });

/** Two segments' worth of records in one small file: its capacity is made smaller, so that every place can be damaged. */
export async function smallJournal(
  marked: boolean,
  options: { readonly release?: boolean; readonly snapshotOnly?: boolean } = {},
): Promise<SmallJournal> {
  const disk = new SimulatedDisk();
  const path = `${SIMULATED_DIRECTORY}/${segmentName(SEGMENT)}`;
  const seen = { why: "missing", path: SIMULATED_DIRECTORY, sha256: null } as const;
  await quarantineJournal({ ...simulatedOptions(disk), probeOwner: () => "gone", seen, reason: "lost" });
  const first = await openSimulated(disk);
  const a = await first.admit({ ...key("a"), kind: "prompt" }, { requestId: "q-a", hash: "h" });
  await first.admit({ ...key("b"), kind: "prompt" }, { requestId: "q-b", hash: "h" });
  await first.end(a, { kind: "done" });
  await first.close();
  const journal = await openSimulated(disk);
  const b = journal.adopt(key("b"));
  invariant(b !== null, "b is open");
  if (options.snapshotOnly !== true) {
    const restored = ["c", "d"].map((id) => ({ ...key(id), kind: "tool" }) as const);
    await Promise.all([journal.restore(restored), journal.note(b, { step: "sent" })]);
    for (const { id } of journal.quarantines()) await journal.resolveQuarantine(id, {});
    await journal.remember({ requestId: "q-x", hash: "h", outcome: {} });
    if (options.release === true) await journal.close();
    else await Promise.all([journal.end(b, { kind: "done" }), journal.begin({ ...key("e"), kind: "prompt" })]);
  }
  const whole = read(disk);
  const lastBatch = options.snapshotOnly === true ? 0 : options.release === true ? 1 : 2;
  const lines = regions(linesOf(disk.contentOf(path)), lastBatch);
  const kept = shrink(marked ? lines : lines.filter(({ region }) => region !== "blank" && region !== "mark"));
  const lesser: string[] = [];
  for (let lost = 1; lost <= lastBatch; lost += 1) {
    const records = kept.filter(({ region }) => region !== "fill").slice(0, -lost);
    disk.plant(path, Buffer.concat([join(records), Buffer.alloc(join(kept).length - join(records).length, LF)]));
    if (!marked) lesser.push(said(read(disk)));
  }
  disk.plant(path, join(kept));
  invariant(said(read(disk)) === said(whole), "a smaller capacity changes nothing");
  return { disk, path, lines: kept, marked, lesser };
}

/** The quarantine made the first segment, and each opening the next. */
const SEGMENT = 3;
export const UNFINISHED_CLAIM = `${SIMULATED_DIRECTORY}/${segmentName(SEGMENT + 1)}`;

/** A claim's head and two lines of its snapshot: the crash came before the rest. */
export function unfinishedClaim(): Buffer {
  const salt = "0badcafe";
  const seed = Number.parseInt(salt, 16);
  const owner = { generation: "g2", identity: {} };
  const head = { t: "head", v: 2, n: SEGMENT + 1, e: salt, cap: 600, owner };
  const open = { s: 1, d: 0, t: "open", op: { id: "b", g: "g1", k: "prompt", detail: {} }, notes: [], o: 2, req: null };
  const request = { s: 2, d: 0, t: "request", id: "q-a", hash: "h", outcome: {}, at: 1 };
  const lines = [encodeLine(JSON.stringify(head), HEAD_SEED)];
  for (const record of [open, request]) lines.push(encodeLine(JSON.stringify(record), seed));
  const bytes = Buffer.alloc(600, LF);
  bytes.set(Buffer.concat(lines), 0);
  return bytes;
}

export function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(LF, at) + 1;
    lines.push(bytes.subarray(at, end));
    at = end;
  }
  return lines;
}

function regions(lines: readonly Buffer[], lastBatch: number): Line[] {
  const mark = lines.findLastIndex((line) => line.length > 1);
  const seal = lines.findIndex((line) => line.includes('"t":"seal"'));
  const regionOf = (index: number): Region => {
    if (index > mark) return "fill";
    if (index === mark) return "mark";
    if (index === mark - 1) return "blank";
    if (index === 0) return "head";
    if (index <= seal) return index < seal ? "snapshot" : "seal";
    if (index === mark - 2) return "end";
    return index > mark - 2 - lastBatch ? "last" : "durable";
  };
  return lines.map((bytes, index) => ({ bytes, region: regionOf(index) })).slice(0, mark + 1 + FILL_BYTES);
}

/** The same lines below a head that says their size. */
function shrink(lines: readonly Line[]): Line[] {
  const [head, ...rest] = lines;
  const text = head?.bytes.toString() ?? "";
  const size = Buffer.concat(rest.map(({ bytes }) => bytes)).length;
  const withCapacity = (cap: number): Buffer =>
    encodeLine(text.replace(/"cap":\d+/, `"cap":${cap}`).replace(/,"c":"[0-9a-f]{8}"\}\n$/, "}"), HEAD_SEED);
  let bytes = withCapacity(size);
  // Twice: the number's own digits count.
  for (let pass = 0; pass < 2; pass += 1) bytes = withCapacity(size + bytes.length);
  return [{ bytes, region: "head" }, ...rest];
}

export function join(lines: readonly Line[]): Buffer {
  return Buffer.concat(lines.map(({ bytes }) => bytes));
}

export function read(disk: SimulatedDisk): JournalReport {
  return readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, disk);
}

/** What a report says of work, requests and quarantines; `refused` for a refusal. */
export function said(report: JournalReport): string {
  if (report.kind !== "ok") return report.kind;
  const { open, remembered, quarantines, released } = report;
  return JSON.stringify([open, remembered, quarantines, released]);
}
