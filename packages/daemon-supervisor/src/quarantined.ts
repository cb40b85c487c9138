import { replaceFile } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { reasonOf } from "@holdfast/shared-process";
import { workersFolder } from "./home.ts";
import { ProtocolError } from "@holdfast/client/protocol";

export const sessionQuarantined = (sessionId: string, why: string): ProtocolError =>
  new ProtocolError("session_quarantined", `session ${sessionId} is quarantined: ${why}`, {
    hint: "agent doctor tells the way out; its files are left as they are",
  });

export const notePath = (home: string, sessionId: string): string =>
  `${workersFolder(home)}/${sessionId}.quarantine.json`;

/** A note beside a record that could not be understood or proven; the record itself stays as it is. */
export function noteQuarantine(
  fs: FileSystem,
  home: string,
  note: { sessionId: string; reason: string; at: string },
): string | null {
  try {
    replaceFile(fs, notePath(home, note.sessionId), `${JSON.stringify({ schemaVersion: 1, ...note })}\n`);
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}
