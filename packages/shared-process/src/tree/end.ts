import type { CgroupRemoval } from "../cgroup/cgroup.ts";
import { systemClock } from "../clock.ts";
import { invariant } from "../errors.ts";
import { startIdOf } from "../identity.ts";
import { defaultObserver } from "../observe/default.ts";
import { systemPorts } from "../ports.ts";
import type { Clock } from "../types.ts";
import { defaultKeep } from "./keep.ts";
import { type Member, type TreeProcess, treeProcess } from "./members.ts";
import type { UnprovenProcess } from "./prove.ts";
import { killAll, signalEach } from "./signal.ts";
import { isKnown } from "./find.ts";
import { type Found, Tree, type TreeOptions } from "./tree.ts";

export interface EndTreeOptions extends TreeOptions {
  /** Time between SIGTERM and SIGKILL; finite and not negative. */
  readonly graceMs: number;
  /** Names of programs that are left alone, with what runs below them, unless `force`; default `defaultKeep`. */
  readonly keep?: readonly string[];
  /** Default false. */
  readonly force?: boolean;
  /** Default `systemClock`. */
  readonly clock?: Clock;
  /** How long after the grace it goes on with SIGKILL, finite and not negative; default 3,000. */
  readonly lastRoundsMs?: number;
  readonly abort?: AbortSignal;
}

export interface TreeReport {
  /** How many processes were found at any time and do not run any more. */
  readonly ended: number;
  readonly kept: readonly TreeProcess[];
  /** Found by the last look: not permitted, aborted, or too slow to die. */
  readonly remaining: readonly TreeProcess[];
  readonly scan: "complete" | "incomplete";
  readonly unproven: {
    /** Processes whose environment may not be read: other users', and those that closed their memory, as ssh-agent does. */
    readonly unreadable: number;
    /** Those that run and that other evidence speaks for, though not well enough to signal them; at most 256. */
    readonly processes: readonly UnprovenProcess[];
  };
  /** What became of the cgroup; `null` without one. */
  readonly cgroup: CgroupRemoval["kind"] | null;
}

const POLL_MS = 25;
/** After the grace: SIGKILL acts in milliseconds, so what survives this is stuck in the kernel or not ours to end. */
const LAST_ROUNDS_MS = 3_000;
/** How long one round of SIGKILL is waited for before the next look. */
const KILL_ROUND_MS = 250;
/** The last member of a group has ended before the group says that it is empty. */
const EMPTY_WAIT_MS = 250;

/**
 * Ends a tree and nothing else. All that can be found is found and proven before the first signal, so that whom the end of its parent
 * tears off stays known; each signal goes to a process that is held, or was looked at anew in the same turn (I131, I145). New
 * processes may be forked meanwhile, so it repeats until two looks in a row find none.
 */
export async function endTree(options: EndTreeOptions): Promise<TreeReport> {
  invariant(isKnown(options), "a tree is known by a root, a marker or a cgroup");
  const { graceMs, lastRoundsMs = LAST_ROUNDS_MS } = options;
  // Against any other the time would never be up.
  invariant([graceMs, lastRoundsMs].every(isDuration), "graceMs and lastRoundsMs are finite and not negative");
  const { force = false, clock = systemClock, observer = defaultObserver() } = options;
  const keep = force ? [] : (options.keep ?? defaultKeep);
  const settled = { ...options, keep, clock, observer };
  const tree = new Tree(settled);
  try {
    const { found, seen } = await endRounds(settled, tree);
    const cgroup = await removeCgroup(settled, found);
    return report(tree, { found, seen, cgroup });
  } finally {
    tree[Symbol.dispose]();
  }
}

const isDuration = (ms: number): boolean => Number.isFinite(ms) && ms >= 0;

type Settled = EndTreeOptions & Required<Pick<EndTreeOptions, "keep" | "clock" | "observer">>;

interface Rounds {
  readonly found: Found;
  readonly seen: ReadonlySet<string>;
}

async function endRounds(options: Settled, tree: Tree): Promise<Rounds> {
  const { clock, graceMs, abort } = options;
  const { lastRoundsMs = LAST_ROUNDS_MS } = options;
  const killAt = clock.monotonic() + graceMs;
  // From when SIGKILL can first be sent: whoever stood still meanwhile, as a frozen process does, has sent none.
  let giveUpAt: number | null = null;
  const seen = new Set<string>();
  let asked = false;
  let empty = 0;
  for (;;) {
    const found = tree.look();
    const { targets } = found;
    for (const target of targets) seen.add(startIdOf(target.identity));
    empty = targets.length === 0 && !found.isBehind ? empty + 1 : 0;
    const now = clock.monotonic();
    if (now >= killAt) giveUpAt ??= now + lastRoundsMs;
    const lastAt = giveUpAt;
    if (empty === 2 || abort?.aborted === true || (lastAt !== null && now >= lastAt)) return { found, seen };
    const killing = asked && lastAt !== null;
    if (targets.length === 0) {
      await pause(clock);
    } else {
      if (killing) killAll(options, found);
      else signalEach(options, targets, "SIGTERM");
      asked = true;
      const until = killing ? Math.min(lastAt, clock.monotonic() + KILL_ROUND_MS) : killAt;
      await allEnded(options, { tree, targets, until });
    }
  }
}

interface Waiting {
  readonly tree: Tree;
  readonly targets: readonly Member[];
  readonly until: number;
}

async function allEnded({ clock, abort }: Settled, { tree, targets, until }: Waiting): Promise<void> {
  // Cancellation is looked at after each wait (I103).
  const isWaiting = (): boolean =>
    clock.monotonic() < until && abort?.aborted !== true && targets.some((target) => tree.members.isThere(target));
  while (isWaiting()) await pause(clock);
}

/** The caller itself may be in it, as a worker is in its own: then whoever comes after it removes the group. */
async function removeCgroup(
  { cgroup, clock, ports = systemPorts }: Settled,
  { targets, kept }: Found,
): Promise<CgroupRemoval["kind"] | null> {
  if (!cgroup) return null;
  const listed = cgroup.members();
  const isLeft = targets.length > 0 || kept.length > 0 || (listed.kind === "listed" && listed.pids.includes(ports.pid));
  if (!isLeft) await cgroup.whenEmpty({ clock, withinMs: EMPTY_WAIT_MS });
  return cgroup.remove().kind;
}

function report(tree: Tree, ended: Rounds & Pick<TreeReport, "cgroup">): TreeReport {
  const { found, seen, cgroup } = ended;
  return {
    ended: seen.size - found.targets.length,
    kept: found.kept.map(treeProcess),
    remaining: found.targets.map(treeProcess),
    scan: found.kind,
    unproven: { unreadable: found.table.unreadable, processes: tree.unproven },
    cgroup,
  };
}

function pause(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(POLL_MS, resolve);
  });
}
