interface Write {
  readonly kind: "write";
  readonly position: number;
  readonly bytes: Uint8Array;
}

/** Bytes of one write or a change of length, not yet synced. `isLost`: a sync of it has failed, and no later one takes it along. */
export type PendingChange = (Write | { readonly kind: "truncate"; readonly length: number }) & {
  readonly isLost?: boolean;
};

interface Inode {
  readonly ino: number;
  mode: number;
  /** When it was changed last, in changes of the whole disk. */
  changed: number;
}

export interface SimulatedFile extends Inode {
  readonly kind: "file";
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

export interface SimulatedDirectory extends Inode {
  readonly kind: "directory";
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

/** A sync that succeeds: what no earlier one has lost is durable, and what was written over is not lost any more. */
export function settleFile(file: SimulatedFile): void {
  let lost: PendingChange[] = [];
  for (const change of file.pending) {
    if (change.isLost) {
      lost.push(change);
      continue;
    }
    file.durable = applyChange(file.durable, change);
    lost = lost.flatMap((earlier) => withoutOverwritten(earlier, change));
  }
  if (lost.length === 0) file.durable = Buffer.from(file.content);
  file.pending = lost;
}

function withoutOverwritten(earlier: PendingChange, change: PendingChange): PendingChange[] {
  if (earlier.kind === "truncate") return [earlier];
  const from = change.kind === "write" ? change.position : change.length;
  const to = change.kind === "write" ? change.position + change.bytes.length : Infinity;
  const start = earlier.position;
  const parts = [
    { position: start, bytes: earlier.bytes.subarray(0, Math.max(0, from - start)) },
    { position: Math.max(start, to), bytes: earlier.bytes.subarray(Math.max(0, to - start)) },
  ];
  return parts.filter(({ bytes }) => bytes.length > 0).map((part) => ({ ...earlier, ...part }));
}

export function resize(content: Buffer, length: number): Buffer {
  const result = Buffer.alloc(length);
  content.copy(result, 0, 0, Math.min(length, content.length));
  return result;
}

export interface ContentOptions {
  readonly cuts: number;
  readonly samples: number;
  readonly mixtures: number;
  readonly random: () => number;
}

/**
 * What a crash may leave of a file's unsynced changes: none, all, every prefix of them with the last write cut at sector borders and
 * (bytewise) at `cuts` places, a new length with zeros or only a part of it, and sectors that are each of another age: every such
 * mixture where there are at most `mixtures`, else `samples` random ones. Dropped and reordered writes are among the mixtures.
 */
export function* contentStates(file: SimulatedFile, options: ContentOptions): Generator<Buffer> {
  yield file.durable;
  if (file.pending.length === 0) return;
  yield file.content;
  let before = file.durable;
  const ages = [before];
  for (const change of file.pending) {
    const after = applyChange(before, change);
    if (change.kind === "write") {
      yield resize(before, after.length);
      for (const cut of cutsOf(change, options.cuts)) {
        yield applyChange(before, { ...change, bytes: change.bytes.subarray(0, cut) });
      }
    }
    yield after;
    ages.push(after);
    before = after;
  }
  for (const length of borders(file.durable.length, file.content.length, options.cuts)) {
    yield file.content.subarray(0, length);
  }
  yield* mixSectors(ages, options);
}

/** Where a write is cut: after each of its first sectors, and at `cuts` places from its start to its end. */
function cutsOf(write: Extract<PendingChange, { kind: "write" }>, cuts: number): number[] {
  const { position, bytes } = write;
  const places = borders(position, position + bytes.length, cuts).map((border) => border - position);
  const step = Math.max(1, Math.floor(bytes.length / (cuts + 1)));
  for (let cut = step; cut < bytes.length && places.length < 3 * cuts; cut += step) places.push(cut);
  return [...new Set(places)];
}

/** The first sector borders between two places. */
function borders(from: number, to: number, count: number): number[] {
  const places: number[] = [];
  const first = (Math.floor(from / SECTOR_BYTES) + 1) * SECTOR_BYTES;
  for (let place = first; place < to && places.length < count; place += SECTOR_BYTES) places.push(place);
  return places;
}

/** Each sector is as it was at some moment; the moments are independent of each other. */
function* mixSectors(ages: readonly Buffer[], options: ContentOptions): Generator<Buffer> {
  const newest = ages.at(-1) ?? Buffer.alloc(0);
  const padded = ages.map((age) => resize(age, newest.length));
  const changed: { readonly start: number; readonly versions: readonly Buffer[] }[] = [];
  for (let start = 0; start < newest.length; start += SECTOR_BYTES) {
    const versions: Buffer[] = [];
    for (const age of padded) {
      const version = age.subarray(start, start + SECTOR_BYTES);
      if (!versions.some((other) => other.equals(version))) versions.push(version);
    }
    if (versions.length > 1) changed.push({ start, versions });
  }
  const all = changed.reduce((product, { versions }) => product * versions.length, 1);
  const count = all <= options.mixtures ? all : options.samples;
  for (let index = 0; index < count; index += 1) {
    const mixture = Buffer.from(newest);
    let rest = index;
    for (const { start, versions } of changed) {
      const choice = all <= options.mixtures ? rest % versions.length : Math.floor(options.random() * versions.length);
      rest = Math.floor(rest / versions.length);
      versions[choice]?.copy(mixture, start);
    }
    yield mixture;
  }
}
