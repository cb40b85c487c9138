import { readJournal } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { isAction, operationKinds, sessionDirectory } from "@holdfast/session-worker/transport";
import type { Wanted } from "@holdfast/session-worker/transport";
import type { Descriptor } from "./descriptor.ts";
import type { SessionSummary } from "./session-index/row.ts";

interface Home {
  readonly home: string;
  readonly fs: FileSystem;
}

/**
 * What is wanted of a session whose worker is proven gone. One that ended by itself, with nothing to do, left it to rest. While no
 * supervisor was there nobody could write that, and the worker does not either, since those files are of whoever owns the home at that
 * moment; but its own journal says it: this generation released it, which a crash never does, and no action is open (ADR 0008).
 */
export function wantedOfGone({ home, fs }: Home, record: SessionSummary, descriptor: Descriptor): Wanted {
  if (record.wanted !== "running" || descriptor.lifecycle !== "ready" || descriptor.stop) return record.wanted;
  const report = readJournal(`${sessionDirectory(home, record.sessionId)}/journal`, operationKinds, fs);
  if (report.kind !== "ok" || !report.released || report.quarantines.length > 0) return record.wanted;
  const isAtRest = report.owner.generation === descriptor.process.generation && !report.open.some(isAction);
  return isAtRest ? "passive" : record.wanted;
}
