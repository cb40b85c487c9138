import { invariant } from "../errors.ts";
import type { ProcessIdentity } from "../types.ts";
import type { Member } from "./members.ts";
import { Tree, type TreeOptions } from "./tree.ts";

export interface TreeProcess {
  readonly identity: ProcessIdentity;
  readonly command: string;
  /** What proved that it is of the tree. */
  readonly evidence: Member["evidence"];
}

export interface FoundTree {
  /** `incomplete`: there may be more than was found, for the reason in `problem`. */
  readonly kind: "complete" | "incomplete";
  readonly processes: readonly TreeProcess[];
  readonly problem?: string;
}

/** Whom `endTree` would find now, kept programs among them, without the caller. Touches nothing. */
export function findTree(options: TreeOptions): FoundTree {
  invariant(isKnown(options), "a tree is known by a root, a marker or a cgroup");
  const tree = new Tree({ ...options, keep: [], mostHandles: 0 });
  try {
    const { kind, problem, targets } = tree.look();
    return { kind, processes: targets.map(treeProcess), ...(problem === null ? {} : { problem }) };
  } finally {
    tree[Symbol.dispose]();
  }
}

export const isKnown = ({ root, marker, cgroup }: TreeOptions): boolean =>
  [root, marker, cgroup].some((one) => one !== undefined && one !== null);

export const treeProcess = ({ identity, command, evidence }: Member): TreeProcess => ({ identity, command, evidence });
