import { errnoOf } from "../errors.ts";
import { compareHosts, compareIdentities, isProcessIdentity, NO_IDENTITY } from "../identity.ts";
import type { ProcessPorts } from "../ports.ts";
import type { ProcessIdentity, Verdict } from "../types.ts";
import { isPid } from "./observe.ts";
import { DEFUNCT, NO_SUCH_PID, unknown } from "./rules.ts";
import type { Sight, System } from "./system.ts";

/** One look at a recorded process. `sight` is `null` where the verdict needed none, or nothing was to be seen. */
export interface Look extends Disposable {
  readonly verdict: Verdict;
  /** It is the recorded process, be it as a zombie. */
  readonly isSame: boolean;
  readonly sight: Sight | null;
}

export function lookAt(system: System, ports: ProcessPorts, recorded: ProcessIdentity): Look {
  if (!isProcessIdentity(recorded)) return blind(NO_IDENTITY);
  const host = { ...system.host(), pid: recorded.pid, startTicks: null, pidfsInode: null };
  const elsewhere = compareHosts(...system.comparable(recorded, host), false);
  // A record of another boot or machine is not probed: its number means nothing here.
  if (elsewhere !== null) return blind(elsewhere);
  const seen = see(system, ports, recorded.pid);
  if (seen.kind !== "seen") return blind(seen);
  const { sight } = seen;
  const compared = compareIdentities(...system.comparable(recorded, sight.identity));
  return {
    // Whoever a zombie was, the recorded process does not run under its number (I3).
    verdict: compared.kind !== "replaced" && sight.isDefunct ? DEFUNCT : compared,
    isSame: compared.kind === "current",
    sight,
    [Symbol.dispose]: () => sight[Symbol.dispose](),
  };
}

const blind = (verdict: Verdict): Look => ({ verdict, isSame: false, sight: null, [Symbol.dispose]: () => {} });

export type Seen = { readonly kind: "seen"; readonly sight: Sight } | Extract<Verdict, { kind: "gone" | "unknown" }>;

/** What has a number now. Whoever gets the sight disposes of it. */
export function see(system: System, ports: ProcessPorts, pid: number): Seen {
  if (!isPid(pid)) return unknown("unparsable");
  try {
    const sight = system.look(pid);
    return sight === null ? unknown("unparsable") : { kind: "seen", sight };
  } catch (error) {
    switch (errnoOf(error) ?? "") {
      case "ESRCH":
        // Two calls must agree before a process is called gone.
        return isAbsent(ports, pid) ? NO_SUCH_PID : unknown("hidden");
      case "EMFILE":
      case "ENFILE":
        return unknown("descriptors-exhausted");
      default:
        return unknown("denied");
    }
  }
}

/** True only for ESRCH; for every other answer something may have the number. */
export function isAbsent(ports: ProcessPorts, pid: number): boolean {
  try {
    ports.kill(pid, 0);
    return false;
  } catch (error) {
    return errnoOf(error) === "ESRCH";
  }
}
