import { closeSync, fstatSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { TAIL_BYTES, readFrom } from "./log-tail.ts";

const POLL_MS = 250;

export interface Followed {
  readonly path: string;
  /** The byte after the last one that was read. */
  readonly from: number;
  readonly signal?: AbortSignal;
}

/** Passes on what is added to a file, over rotations and also before there is one. Throws the signal's reason. */
export async function followFile(
  { path, from, signal }: Followed,
  write: (added: Buffer) => Promise<void>,
): Promise<never> {
  let position = from;
  let inode: bigint | null = null;
  for (;;) {
    const added = readAdded(path, position, inode);
    if (added !== null) {
      inode = added.inode;
      position = added.end;
      if (added.bytes.length > 0) await write(added.bytes);
    }
    await sleep(POLL_MS);
    signal?.throwIfAborted();
  }
}

/** A file of another inode, or a shorter one, is a new log and read from its beginning. `null` while there is none. */
function readAdded(path: string, position: number, known: bigint | null) {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    // Between two logs of a rotation, or before the first.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
  try {
    const { ino, size } = fstatSync(fd, { bigint: true });
    const start = (known !== null && ino !== known) || Number(size) < position ? 0 : position;
    const bytes = readFrom(fd, start, Math.min(Number(size) - start, TAIL_BYTES));
    return { inode: ino, bytes, end: start + bytes.length };
  } finally {
    closeSync(fd);
  }
}
