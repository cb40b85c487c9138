import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import type { DirectoryCalls, Seen } from "./calls.ts";
import { below, closeDescriptor, pathOf } from "./descriptors.ts";
import { type Refused, refused } from "./inside.ts";

interface Place {
  readonly descriptor: number;
  readonly seen: Seen;
}

export type PlaceRead = { readonly kind: "file"; readonly bytes: Buffer } | Refused;

/** Reads a regular file that is open as a place, at most `maxBytes` of it, whatever it grows to meanwhile. */
export function readPlace(calls: DirectoryCalls, { descriptor, seen }: Place, maxBytes: number): PlaceRead {
  if (seen.kind === "symlink") return refused("symlink", "it is a symbolic link");
  // Looked at before it is opened for reading: a FIFO would wait for a writer, and a device does what devices do.
  if (seen.kind !== "file") return refused("not_a_file", `it is no regular file but a ${seen.kind}`);
  const tooLarge = refused("too_large", `it has more than ${maxBytes} bytes`);
  if (seen.size > BigInt(maxBytes)) return tooLarge;
  const file = calls.open(pathOf(descriptor), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const bytes = readUpTo(calls, file, { expected: Number(seen.size), limit: maxBytes + 1 });
    return bytes.length > maxBytes ? tooLarge : { kind: "file", bytes };
  } finally {
    closeDescriptor(calls, file);
  }
}

/** To the end of the file or `limit`. One byte more than expected shows that it has grown since its size was read. */
function readUpTo(
  calls: DirectoryCalls,
  file: number,
  { expected, limit }: { expected: number; limit: number },
): Buffer {
  let buffer = Buffer.alloc(Math.min(expected + 1, limit));
  for (let length = 0; ;) {
    const count = calls.read(file, buffer.subarray(length), length);
    length += count;
    if (count === 0 || length === limit) return buffer.subarray(0, length);
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(2 * length + 1024, limit));
  }
}

/** `kind` as it was when the names were read. */
export interface ListedName {
  readonly name: string;
  readonly kind: Seen["kind"];
}

/** `unnamed` counts names that are no UTF-8, which no string can say. */
export type PlaceList =
  | { readonly kind: "directory"; readonly names: readonly ListedName[]; readonly unnamed: number }
  | Refused;

export function listPlace(calls: DirectoryCalls, { descriptor }: Place, maxNames: number): PlaceList {
  const names: ListedName[] = [];
  let [count, unnamed] = [0, 0];
  for (const listed of calls.names(pathOf(descriptor))) {
    if (count === maxNames) return refused("too_large", `it has more than ${maxNames} names`);
    count += 1;
    const bytes = Buffer.from(listed, "latin1");
    if (!isUtf8(bytes)) {
      unnamed += 1;
      continue;
    }
    const name = bytes.toString();
    const seen = calls.lstat(below(descriptor, name));
    // Removed since: as if it had been read a moment later.
    if (seen !== null) names.push({ name, kind: seen.kind });
  }
  return { kind: "directory", names, unnamed };
}
