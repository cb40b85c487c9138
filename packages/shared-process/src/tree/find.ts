import { invariant } from "../errors.ts";
import { defaultObserver } from "../observe/default.ts";
import { type TreeProcess, treeProcess } from "./members.ts";
import type { UnprovenProcess } from "./prove.ts";
import { Tree, type TreeOptions } from "./tree.ts";

export interface FoundTree {
  /** `incomplete`: there may be more than was found, for the reason in `problem`. */
  readonly kind: "complete" | "incomplete";
  readonly processes: readonly TreeProcess[];
  readonly problem?: string;
  /** Those that run and that some evidence speaks for, though not well enough; `endTree` would not signal them. */
  readonly unproven: readonly UnprovenProcess[];
}

/** Whom `endTree` would find now, kept programs among them, without the caller. Touches nothing. */
export function findTree(options: TreeOptions): FoundTree {
  invariant(isKnown(options), "a tree is known by a root, a marker or a cgroup");
  const tree = new Tree({ ...options, observer: options.observer ?? defaultObserver(), keep: [], mostHandles: 0 });
  try {
    const { kind, problem, targets } = tree.look();
    const found = { kind, processes: targets.map(treeProcess), unproven: tree.unproven };
    return problem === null ? found : { ...found, problem };
  } finally {
    tree[Symbol.dispose]();
  }
}

export const isKnown = ({ root, marker, cgroup }: TreeOptions): boolean =>
  [root, marker, cgroup].some((one) => one !== undefined && one !== null);
