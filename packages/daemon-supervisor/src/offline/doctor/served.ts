import type { SeenSession } from "./seen.ts";

type Damaged = Extract<SeenSession["descriptor"], { damaged: string }>;

export const isDamaged = (descriptor: SeenSession["descriptor"]): descriptor is Damaged =>
  descriptor !== null && "damaged" in descriptor;

/** Whether a daemon lives that has the session in memory and acts on it, whatever stands on disk. */
export const isServed = ({ row }: SeenSession): boolean => row !== null && row.state !== "quarantined";

/** Whether the daemon alone can tell which worker is the session's: no record on disk names it. */
export const holdsAlone = (seen: SeenSession): boolean =>
  isServed(seen) && seen.row?.pid !== null && (seen.descriptor === null || isDamaged(seen.descriptor));
