/** Bytes of one write or a change of length, not yet synced. */
export type PendingChange =
  | { readonly kind: "write"; readonly position: number; readonly bytes: Uint8Array }
  | { readonly kind: "truncate"; readonly length: number };

export interface SimulatedFile {
  readonly kind: "file";
  readonly ino: number;
  mode: number;
  /** What a reader sees now. */
  content: Buffer;
  /** What is on the platter for certain. */
  durable: Buffer;
  pending: PendingChange[];
}

/** Names change one by one; each change lands whole or not at all. */
export interface NameChange {
  readonly set: readonly (readonly [name: string, ino: number])[];
  readonly remove: readonly string[];
}

export interface SimulatedDirectory {
  readonly kind: "directory";
  readonly ino: number;
  mode: number;
  names: Map<string, number>;
  durable: Map<string, number>;
  pending: NameChange[];
}

export type SimulatedInode = SimulatedFile | SimulatedDirectory;

/** The unit that lands whole or not at all when the power goes. */
export const SECTOR_BYTES = 512;

export function applyChange(content: Buffer, change: PendingChange): Buffer {
  if (change.kind === "truncate") return resize(content, change.length);
  const end = change.position + change.bytes.length;
  const result = end > content.length ? resize(content, end) : Buffer.from(content);
  result.set(change.bytes, change.position);
  return result;
}

export function resize(content: Buffer, length: number): Buffer {
  const result = Buffer.alloc(length);
  content.copy(result, 0, 0, Math.min(length, content.length));
  return result;
}

/**
 * What a crash may leave of a file's unsynced changes: none, all, every prefix of the changes with the last one cut at sector
 * borders and (bytewise) at `cuts` places, the new length with zeros, and `samples` random sets of sectors, old or new.
 */
export function* contentStates(
  file: SimulatedFile,
  options: { readonly cuts: number; readonly samples: number; readonly random: () => number },
): Generator<Buffer> {
  yield file.durable;
  if (file.pending.length === 0) return;
  yield file.content;
  let before = file.durable;
  for (const change of file.pending) {
    const after = applyChange(before, change);
    if (change.kind === "write") {
      yield resize(before, after.length);
      const step = Math.max(1, Math.floor(change.bytes.length / (options.cuts + 1)));
      for (let cut = step; cut < change.bytes.length; cut += step) {
        yield applyChange(before, { ...change, bytes: change.bytes.subarray(0, cut) });
      }
    }
    yield after;
    before = after;
  }
  for (let sample = 0; sample < options.samples; sample += 1) yield mixSectors(file, options.random);
}

function mixSectors(file: SimulatedFile, random: () => number): Buffer {
  const result = resize(file.durable, file.content.length);
  for (let start = 0; start < result.length; start += SECTOR_BYTES) {
    if (random() < 0.5) file.content.copy(result, start, start, start + SECTOR_BYTES);
  }
  return result;
}
