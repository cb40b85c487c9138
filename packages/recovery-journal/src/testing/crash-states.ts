import { contentStates } from "./simulated-inode.ts";
import { applyNames, ROOT_INO, SimulatedTree } from "./simulated-tree.ts";

export interface CrashOptions {
  /** Places at which each unsynced write is cut, beside none and all of it. Default 8. */
  readonly cuts?: number;
  /** Mixtures of sectors of any age up to which all are taken. Default 32. */
  readonly mixtures?: number;
  /** Random ones where there are more. Default 4. */
  readonly samples?: number;
  /** Seed of the mixtures: the same seed makes the same states. */
  readonly seed?: number;
  /** Unsynced name changes of one directory up to which every subset is taken; above, 2^n random ones. Default 6. */
  readonly names?: number;
}

/**
 * The disks that a power cut may leave: for every directory each subset of its unsynced name changes, and with each of those every
 * content of each unsynced file, one file varied at a time while the others have nothing, or all, of theirs.
 */
export function* crashTrees(tree: SimulatedTree, options: CrashOptions = {}): Generator<SimulatedTree> {
  const random = generator(options.seed ?? 1);
  for (const names of nameStates(tree, { limit: options.names ?? 6, random })) {
    const reachable = new Set([...names.values()].flatMap((map) => [...map.values()]));
    const unsynced = tree.files().filter((file) => file.pending.length > 0 && reachable.has(file.ino));
    yield settle(tree, names, new Map());
    if (unsynced.length === 0) continue;
    const newest = new Map(unsynced.map((file) => [file.ino, file.content]));
    yield settle(tree, names, newest);
    for (const file of unsynced) {
      const { cuts = 8, samples = 4, mixtures = 32 } = options;
      const states = contentStates(file, { cuts, samples, mixtures, random });
      for (const content of states) {
        yield settle(tree, names, new Map([[file.ino, content]]));
        if (unsynced.length > 1) yield settle(tree, names, new Map(newest).set(file.ino, content));
      }
    }
  }
}

type NameState = ReadonlyMap<number, Map<string, number>>;

function* nameStates(tree: SimulatedTree, choice: { limit: number; random: () => number }): Generator<NameState> {
  const changes = tree.directories().flatMap(({ ino, pending }) => pending.map((change) => ({ ino, change })));
  const exhaustive = changes.length <= choice.limit;
  const count = 2 ** Math.min(changes.length, choice.limit);
  const seen = new Set<string>();
  for (let subset = 0; subset < count; subset += 1) {
    const names = new Map(tree.directories().map((directory) => [directory.ino, new Map(directory.durable)]));
    changes.forEach(({ ino, change }, index) => {
      const lands = exhaustive ? ((subset >> index) & 1) === 1 : choice.random() < 0.5;
      const map = names.get(ino);
      if (lands && map !== undefined) applyNames(map, change);
    });
    const key = JSON.stringify(
      [...names].map(([ino, map]) => [ino, ...[...map].map(([name, target]) => `${name}/${target}`).toSorted()]),
    );
    if (!seen.has(key)) yield names;
    seen.add(key);
  }
}

/** A tree in which all that is there is durable. What no name leads to is gone. */
function settle(tree: SimulatedTree, names: NameState, contents: ReadonlyMap<number, Buffer>): SimulatedTree {
  const settled = new SimulatedTree(tree);
  const visit = (ino: number): void => {
    const inode = tree.inodes.get(ino);
    if (inode === undefined || (settled.inodes.has(ino) && ino !== ROOT_INO)) return;
    const { mode, changed } = inode;
    if (inode.kind === "file") {
      const content = contents.get(ino) ?? inode.durable;
      settled.add({ kind: "file", ino, mode, changed, content, durable: content, pending: [] });
      return;
    }
    const landed = new Map(names.get(ino));
    settled.add({ kind: "directory", ino, mode, changed, names: landed, durable: new Map(landed), pending: [] });
    for (const target of landed.values()) visit(target);
  };
  visit(ROOT_INO);
  return settled;
}

/** Mulberry32: small, seeded, good enough to pick sectors. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
