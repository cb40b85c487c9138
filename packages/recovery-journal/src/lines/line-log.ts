import { CodedError, errnoOf, invariant, reasonOf } from "@holdfast/shared-process";
import { constants } from "node:fs";
import { dirname } from "node:path";
import { syncDirectory } from "../durable/sync-directory.ts";
import { linkOnce } from "../durable/publish-file.ts";
import { createExclusive, discardTemporary, temporaryName } from "../durable/temporary-file.ts";
import { isDiskFull, writeAll } from "../durable/write-all.ts";
import type { FileSystem } from "../file-system.ts";
import { nodeFileSystem } from "../node-file-system.ts";
import { CHUNK_BYTES, lastLineFeed, readFully } from "./line-bytes.ts";

/** An append-only log of lines that a person can read. One writer; readers see whole lines. */
export interface LineLog {
  /** Bytes; always the end of a whole line. */
  readonly size: number;
  /** Bytes of a torn last line that opening cut off, 0 if there was none. */
  readonly tornBytes: number;
  /**
   * Writes one line, not yet durable. Throws `CodedError`: `disk_full` (the file ends with the line before, and a later append
   * may succeed), `log_poisoned` (an earlier write or sync failed), `log_closed`.
   */
  append(line: string): void;
  /** Makes all lines so far durable. A failure poisons. */
  sync(): void;
  /**
   * Where the file has lost its name, removed or moved by somebody, writes all lines anew under it, durably, and says so. Throws
   * `CodedError`: `disk_full`, or `log_lost` when it cannot be done: something else has the name, or its directory is gone.
   */
  keepName(): "kept" | "restored";
  close(): void;
}

const { O_APPEND, O_NOFOLLOW, O_RDWR, O_NONBLOCK } = constants;
const APPENDING = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK;

/** Opens or creates (0600) a line log and cuts a torn last line off (I93, I140): what follows the last LF, NULs or not. */
export function openLineLog(options: { readonly path: string; readonly fs?: FileSystem }): LineLog {
  const { path, fs = nodeFileSystem } = options;
  const fd = openOrCreate(fs, path);
  try {
    const stats = fs.fstat(fd);
    if (!stats.isFile()) throw new CodedError("not_a_file", `${path} is not a regular file`, { data: { path } });
    const size = Number(stats.size);
    const whole = lastLineFeed(fs, fd, size) + 1;
    if (whole < size) {
      fs.ftruncate(fd, whole);
      fs.fdatasync(fd);
    }
    return new OpenLineLog(fs, fd, { path, size: whole, tornBytes: size - whole });
  } catch (error) {
    fs.close(fd);
    throw error;
  }
}

function openOrCreate(fs: FileSystem, path: string): number {
  try {
    return fs.open(path, APPENDING);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
  // Exclusive creation cannot also append; the descriptor that does is opened by name once that is durable.
  fs.close(createExclusive(fs, path));
  syncDirectory(fs, dirname(path));
  return fs.open(path, APPENDING);
}

/** Makes a file of the first bytes of an open one, synced. */
function copyTo(fs: FileSystem, path: string, { source, size }: { source: number; size: number }): void {
  const fd = createExclusive(fs, path);
  try {
    const buffer = Buffer.alloc(CHUNK_BYTES);
    for (let start = 0; start < size; start += CHUNK_BYTES) {
      const length = readFully(fs, source, { buffer, start, length: Math.min(CHUNK_BYTES, size - start) });
      writeAll(fs, fd, buffer.subarray(0, length), start);
    }
    fs.fsync(fd);
  } finally {
    fs.close(fd);
  }
}

type State = { readonly name: "live" | "closed" } | { readonly name: "poisoned"; readonly cause: unknown };

class OpenLineLog implements LineLog {
  readonly tornBytes: number;
  readonly #fs: FileSystem;
  #fd: number;
  readonly #path: string;
  #size: number;
  #state: State = { name: "live" };

  constructor(fs: FileSystem, fd: number, found: { path: string; size: number; tornBytes: number }) {
    this.#fs = fs;
    this.#fd = fd;
    this.#path = found.path;
    this.#size = found.size;
    this.tornBytes = found.tornBytes;
  }

  get size(): number {
    return this.#size;
  }

  append(line: string): void {
    invariant(!line.includes("\n"), "a line has no line feed in it");
    this.#checkLive();
    const bytes = Buffer.from(`${line}\n`);
    try {
      writeAll(this.#fs, this.#fd, bytes, null);
    } catch (error) {
      this.#cutBack(error);
      if (!isDiskFull(error)) throw this.#poison(error);
      throw new CodedError("disk_full", "the disk is full", { data: { path: this.#path }, cause: error });
    }
    this.#size += bytes.length;
  }

  sync(): void {
    this.#checkLive();
    try {
      this.#fs.fdatasync(this.#fd);
    } catch (error) {
      throw this.#poison(error);
    }
  }

  keepName(): "kept" | "restored" {
    this.#checkLive();
    if (this.#fs.hasName(this.#fd, this.#path)) return "kept";
    try {
      this.#writeAnew();
    } catch (error) {
      if (isDiskFull(error))
        throw new CodedError("disk_full", "the disk is full", { data: { path: this.#path }, cause: error });
      throw new CodedError("log_lost", `${this.#path} is gone, and cannot be written anew: ${reasonOf(error)}`, {
        data: { path: this.#path },
        cause: error,
      });
    }
    try {
      syncDirectory(this.#fs, dirname(this.#path));
    } catch (error) {
      throw this.#poison(error);
    }
    return "restored";
  }

  /** Complete before it has the name, which nobody else has. */
  #writeAnew(): void {
    const [fs, path] = [this.#fs, this.#path];
    const temporary = temporaryName(path);
    let fd: number | null = null;
    try {
      copyTo(fs, temporary, { source: this.#fd, size: this.#size });
      fd = fs.open(temporary, APPENDING);
      if (!linkOnce(fs, temporary, path)) throw new CodedError("log_lost", "something else has its name");
      [this.#fd, fd] = [fd, this.#fd];
    } finally {
      if (fd !== null) fs.close(fd);
      discardTemporary(fs, temporary);
    }
  }

  close(): void {
    if (this.#state.name === "closed") return;
    this.#state = { name: "closed" };
    this.#fs.close(this.#fd);
  }

  /** After a failed append the file ends with a whole line again, or nothing more is written to it. */
  #cutBack(failure: unknown): void {
    try {
      this.#fs.ftruncate(this.#fd, this.#size);
    } catch {
      // The next open cuts the torn line; the failed append is the error to report.
      throw this.#poison(failure);
    }
  }

  #checkLive(): void {
    if (this.#state.name === "closed") throw new CodedError("log_closed", "the log is closed");
    if (this.#state.name === "poisoned") throw this.#poison(this.#state.cause);
  }

  #poison(cause: unknown): CodedError {
    this.#state = { name: "poisoned", cause };
    return new CodedError("log_poisoned", `a write of the log failed: ${reasonOf(cause)}`, {
      data: { path: this.#path },
      cause,
    });
  }
}
