import type { ProcessIdentity } from "../types.ts";

export interface Member {
  readonly identity: ProcessIdentity;
  readonly command: string;
  readonly ppid: number;
}

type Members = ReadonlyMap<number, Member>;

/** Says of a process that seems to belong to a tree that it is somebody else's all the same, with everything below it. */
export type Spare = (found: { readonly identity: ProcessIdentity; readonly command: string }) => boolean;

/** The members that are neither spared nor below one that is. */
export function without(members: Members, spare: Spare): Member[] {
  const spared = new Set([...members.values()].filter((member) => spare(member)));
  return [...members.values()].filter((member) => !atOrBelow(member, members, (other) => spared.has(other)));
}

/** Whether the process, or one above it among the members, fits. */
function atOrBelow(member: Member, members: Members, fits: (candidate: Member) => boolean): boolean {
  const visited = new Set<number>();
  for (let at: Member | undefined = member; at !== undefined; at = members.get(at.ppid)) {
    if (fits(at)) return true;
    // Parents are read at different moments, so with recycled numbers they can form a ring.
    if (visited.has(at.identity.pid)) return false;
    visited.add(at.identity.pid);
  }
  return false;
}
