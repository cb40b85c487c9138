import type { SeenSession } from "./seen.ts";

type Damaged = Extract<SeenSession["descriptor"], { damaged: string }>;

export const isDamaged = (descriptor: SeenSession["descriptor"]): descriptor is Damaged =>
  descriptor !== null && "damaged" in descriptor;

/** Whether a daemon lives that knows the session and acts on it, whatever stands on disk. */
export const isServed = ({ row }: SeenSession): boolean => row !== null && row.state !== "quarantined";

/** Whether it has the whole record, which its next change writes anew: of sessions at rest it reads it at each use. */
export const holdsRecord = (seen: SeenSession): boolean =>
  isServed(seen) && seen.row?.state !== "stopped" && seen.row?.state !== "stopping";

/** Whether the daemon alone can tell which worker is the session's: no record on disk names it. */
export const holdsAlone = (seen: SeenSession): boolean =>
  isServed(seen) && seen.row?.pid !== null && (seen.descriptor === null || isDamaged(seen.descriptor));
