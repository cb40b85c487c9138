import { startIdOf } from "../identity.ts";
import type { ProcessPorts } from "../ports.ts";
import type { Clock, Marker, ProcessObserver, Signal } from "../types.ts";
import type { Spare } from "./ancestry.ts";
import { type MarkedProcess, type MarkedScan, scanMarked } from "./scan.ts";

export interface EndMarkedOptions {
  readonly marker: Marker;
  /** Time between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** Names of programs that are left alone unless `force`; see `defaultKeep`. */
  readonly keep: readonly string[];
  readonly force: boolean;
  readonly observer: ProcessObserver;
  readonly clock: Clock;
  /** How long after the grace it goes on with SIGKILL; default 3,000. */
  readonly lastRoundsMs?: number;
  /** Processes of others that carry the marker by accident: never signalled, not even by force, and not listed. */
  readonly spare?: Spare;
  readonly abort?: AbortSignal;
  readonly ports?: ProcessPorts;
}

export interface TreeReport {
  /** How many processes were found at any time and do not run any more. */
  readonly ended: number;
  readonly kept: readonly MarkedProcess[];
  /** Found by the last scan: not permitted, not provable, aborted, or too slow to die. */
  readonly remaining: readonly MarkedProcess[];
  readonly scan: "complete" | "incomplete";
}

const POLL_MS = 25;
/** After the grace: SIGKILL acts in milliseconds, so what survives this is stuck in the kernel or not ours to end. */
const LAST_ROUNDS_MS = 3_000;
/** How long one round of SIGKILL is waited for before the next scan. */
const KILL_ROUND_MS = 250;

/**
 * Ends everything that carries the marker and nothing else. Each signal follows a fresh verdict and a look into the
 * process's environment in
 * the same turn (I131, I145). New processes may be forked meanwhile, so it repeats until two scans in a row find none.
 */
export async function endMarked(options: EndMarkedOptions): Promise<TreeReport> {
  const { clock, graceMs, abort } = options;
  const killAt = clock.monotonic() + graceMs;
  const giveUpAt = killAt + (options.lastRoundsMs ?? LAST_ROUNDS_MS);
  const seen = new Set<string>();
  let asked = false;
  let empty = 0;
  for (;;) {
    const found = look(options);
    for (const target of found.targets) seen.add(startIdOf(target.identity));
    empty = found.targets.length === 0 ? empty + 1 : 0;
    if (empty === 2 || abort?.aborted === true || clock.monotonic() >= giveUpAt) return report(found, seen);
    const killing = asked && clock.monotonic() >= killAt;
    if (found.targets.length === 0) {
      await pause(clock);
    } else {
      signalAll(options, found.targets, killing ? "SIGKILL" : "SIGTERM");
      asked = true;
      const until = killing ? Math.min(giveUpAt, clock.monotonic() + KILL_ROUND_MS) : killAt;
      await allEnded(options, found.targets, until);
    }
  }
}

interface Found {
  readonly scan: MarkedScan["kind"];
  readonly targets: readonly MarkedProcess[];
  readonly kept: readonly MarkedProcess[];
}

function look({ marker, keep, force, spare, ports }: EndMarkedOptions): Found {
  const scan = scanMarked(marker, { keep, spare, ports });
  const isTarget = (found: MarkedProcess): boolean => force || !found.keepable;
  return {
    scan: scan.kind,
    targets: scan.processes.filter(isTarget),
    kept: scan.processes.filter((found) => !isTarget(found)),
  };
}

function signalAll({ observer, marker }: EndMarkedOptions, targets: readonly MarkedProcess[], signal: Signal): void {
  // An outcome other than "sent" needs no handling here: the next scan shows whether the process is still there.
  for (const target of targets) observer.signal(target.identity, signal, { environment: marker });
}

async function allEnded(options: EndMarkedOptions, targets: readonly MarkedProcess[], until: number): Promise<void> {
  const { observer, clock, abort } = options;
  const isThere = ({ identity }: MarkedProcess): boolean => {
    const { kind } = observer.verdict(identity);
    return kind === "current" || kind === "unknown";
  };
  // Cancellation is looked at after each wait (I103).
  const isWaiting = (): boolean => clock.monotonic() < until && abort?.aborted !== true && targets.some(isThere);
  while (isWaiting()) await pause(clock);
}

function report(found: Found, seen: ReadonlySet<string>): TreeReport {
  const { kept, targets, scan } = found;
  return { ended: seen.size - targets.length, kept, remaining: targets, scan };
}

function pause(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(POLL_MS, resolve);
  });
}
