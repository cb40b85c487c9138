import type { ProcessIdentity } from "@holdfast/shared-process";

/** A process that a session's stop could not end, as it was recorded. */
export interface Retained {
  readonly sessionId: string;
  readonly identity: ProcessIdentity;
  readonly marker: string;
}

/** What earlier stops of a home's sessions left and recorded. Nothing is recorded yet. */
export const retainedOf = (_home: string): readonly Retained[] => [];
