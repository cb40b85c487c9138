import { CodedError, errnoOf, reasonOf } from "@holdfast/shared-process";
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { join } from "node:path";
import { systemErrnoOf } from "../durable/outcome.ts";
import { linkOnce } from "../durable/publish-file.ts";
import { syncDirectory } from "../durable/sync-directory.ts";
import { createExclusive, discardTemporary, temporaryName } from "../durable/temporary-file.ts";
import { writeAll } from "../durable/write-all.ts";
import type { FileSystem } from "../file-system.ts";
import { EVIDENCE_MAX, evidenceName, segmentName } from "../format.ts";
import { decodeLine, HEAD_SEED, LF } from "../format/line.ts";
import { parseHead } from "../format/records.ts";
import { nodeFileSystem } from "../node-file-system.ts";
import type { JournalOwner } from "../types.ts";
import { type Refusal, refuse } from "./inspect.ts";

/** A damaged segment as it was read. */
export interface Evidence {
  readonly segment: number;
  readonly path: string;
  readonly sha256: string;
  readonly owner: JournalOwner | null;
  /** A claim above, without a byte of its own: evidence of nothing, and nobody's. */
  readonly isBlank: boolean;
}

export function readEvidence(fs: FileSystem, directory: string, segment: number): Evidence | "lost" | Refusal {
  const path = join(directory, segmentName(segment));
  try {
    const { start, ...read } = withFile(fs, path, (fd) => readThrough(fs, fd));
    return { segment, path, ...read, owner: ownerIn(start) };
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "lost";
    if (errnoOf(error) === null) throw error;
    return refuse("unreadable", path, reasonOf(error));
  }
}

function withFile<T>(fs: FileSystem, path: string, use: (fd: number) => T): T {
  const fd = fs.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return use(fd);
  } finally {
    fs.close(fd);
  }
}

/** A file too large to be a segment is read in pieces of this size. */
const PIECE_BYTES = 1024 * 1024;

/** Reads a whole file, and copies it if there is a target. */
function readThrough(
  fs: FileSystem,
  fd: number,
  target: number | null = null,
): { readonly sha256: string; readonly start: Buffer; readonly isBlank: boolean } {
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let start: Buffer | null = null;
  let isBlank = true;
  for (let at = 0; ;) {
    const count = fs.read(fd, piece, 0, piece.length, at);
    start ??= Buffer.from(piece.subarray(0, count));
    if (count === 0) return { sha256: hash.digest("hex"), start, isBlank };
    isBlank &&= piece.subarray(0, count).every((byte) => byte === LF);
    hash.update(piece.subarray(0, count));
    if (target !== null) writeAll(fs, target, piece.subarray(0, count), at);
    at += count;
  }
}

function ownerIn(start: Uint8Array): JournalOwner | null {
  const line = decodeLine(start.subarray(0, Math.max(start.indexOf(LF), 0)), HEAD_SEED);
  const head = line === null ? null : parseHead(line);
  return head === null || "unsupported" in head ? null : head.owner;
}

/** SHA-256, in hex, of a file that is never read through a link. Throws the system's error. */
export function digestOf(path: string, fs: FileSystem = nodeFileSystem): string {
  return withFile(fs, path, (fd) => readThrough(fs, fd).sha256);
}

/** Throws `quarantine_full` where the files of evidence, with these, would be too many. */
export function checkRoom(directory: string, kept: readonly string[], more: readonly Evidence[]): void {
  const all = new Set([...kept, ...more.map(({ segment, sha256 }) => evidenceName(segment, sha256))]);
  if (all.size <= EVIDENCE_MAX) return;
  throw new CodedError("quarantine_full", `${directory} has evidence of too many quarantines`, {
    data: { path: directory, count: kept.length },
  });
}

/**
 * Copies a segment's bytes under their evidence name: whoever has the segment open writes to another file. `false`: they are not,
 * or are no longer, those of this digest; `null` takes any.
 */
export function keep(fs: FileSystem, directory: string, { path, segment }: Evidence, expected: string | null): boolean {
  const temporary = temporaryName(path);
  try {
    const fd = createExclusive(fs, temporary);
    let sha256: string;
    try {
      ({ sha256 } = withFile(fs, path, (source) => readThrough(fs, source, fd)));
      if (expected !== null && sha256 !== expected) return false;
      fs.fsync(fd);
    } finally {
      fs.close(fd);
    }
    const target = join(directory, evidenceName(segment, sha256));
    if (!linkOnce(fs, temporary, target) && digestOf(target, fs) !== sha256) {
      throw new CodedError("evidence_exists", `${target} is another file`, { data: { path: target } });
    }
  } finally {
    discardTemporary(fs, temporary);
  }
  syncDirectory(fs, directory);
  return true;
}

/** Once the segment above stands nothing more is acknowledged on this one: keeps what was since its copy, by a writer that lives. */
export function keepLater(fs: FileSystem, directory: string, item: Evidence): void {
  try {
    if (digestOf(item.path, fs) === item.sha256) return;
    keep(fs, directory, item, null);
  } catch (error) {
    // The next opener has removed it.
    if (systemErrnoOf(error) !== "ENOENT") throw error;
  }
}
