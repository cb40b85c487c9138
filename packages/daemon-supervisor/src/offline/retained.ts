import { nodeFileSystem } from "@holdfast/recovery-journal";
import type { ProcessIdentity } from "@holdfast/shared-process";
import { readRetained, sessionDirectory } from "@holdfast/session-worker/transport";
import { sessionIdsOf } from "../session-record-file.ts";

/** A process that a session's stop left: not to be ended without force, or not to be ended at all. */
export interface Retained {
  readonly sessionId: string;
  readonly identity: ProcessIdentity;
  readonly marker: string;
  readonly marked: boolean;
}

/** What earlier stops of a home's sessions left, by their journals (I167). */
export const retainedOf = (home: string): readonly Retained[] =>
  sessionIdsOf(nodeFileSystem, home).flatMap((sessionId) => {
    const retained = readRetained(sessionDirectory(home, sessionId), nodeFileSystem);
    return retained.map(({ identity, marker, marked }) => ({ sessionId, identity, marker, marked }));
  });
