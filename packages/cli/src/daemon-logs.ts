import { ProtocolError } from "@holdfast/client/protocol";
import { closeSync, fstatSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "./context.ts";
import { lineByLine, readableLine } from "./log-line.ts";
import { logTail, readFrom } from "./log-tail.ts";

/** About the last two hundred lines. */
const TAIL_BYTES = 64 * 1024;
const POLL_MS = 250;

/** The end of the daemon's log, readable on a terminal and raw elsewhere, and with `follow` what is added, over rotations, until interrupted. */
export async function daemonLogs({ io, options }: Context, follow: boolean): Promise<void> {
  const path = join(options.home, "logs/supervisor.log");
  const { text, size } = logTail(path, TAIL_BYTES);
  if (size === 0 && !follow)
    throw new ProtocolError("file_not_found", `no log yet: ${path}`, { hint: "agent daemon start" });
  const readable = io.stdout.isTTY && !options.json ? lineByLine(readableLine) : (raw: Buffer): Buffer => raw;
  await io.stdout.write(readable(text));
  if (follow) await followFile(path, size, (added) => io.stdout.write(readable(added)));
}

async function followFile(path: string, from: number, write: (added: Buffer) => Promise<void>): Promise<never> {
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
