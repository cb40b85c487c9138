import type { ProcessIdentity, ProcessObserver } from "@holdfast/shared-process";
import { olderRow } from "../lifecycle/older.ts";
import type { OlderFound } from "../lifecycle/older.ts";
import type { OlderRecord } from "./form.ts";
import { matchStartId } from "./start-id.ts";

export type OlderProof =
  /** What can be read of it now, which is more than its record says. */
  | { readonly kind: "current"; readonly identity: ProcessIdentity }
  | { readonly kind: "ended" | "rest" }
  | { readonly kind: "quarantine"; readonly reason: string };

/** What can be proven of a record of an older form. Looks, and signals nothing; not even that at one that is passivated (I83). */
export function proveOlder(observer: ProcessObserver, { form, lifecycle, named }: OlderRecord): OlderProof {
  const looked = lifecycle === "passivated" || lifecycle === "unknown" ? null : look(observer, named);
  const found: OlderFound = { lifecycle, process: looked?.process ?? "unnamed", start: looked?.start ?? "absent" };
  const { decision, name } = olderRow(found);
  if (decision === "quarantine") {
    const about = named === null ? "" : ` (process ${named.pid})`;
    return { kind: "quarantine", reason: `its worker record is of an older form, ${form}: ${name}${about}` };
  }
  if (decision !== "promote") return { kind: decision };
  // The row fires for nothing that was not identified.
  return looked?.identity ? { kind: "current", identity: looked.identity } : { kind: "quarantine", reason: name };
}

interface Looked extends Pick<OlderFound, "process" | "start"> {
  readonly identity: ProcessIdentity | null;
}

function look(observer: ProcessObserver, named: OlderRecord["named"]): Looked | null {
  if (named === null) return null;
  const found = observer.identify(named.pid);
  if (found.kind === "gone") return { process: "gone", start: "absent", identity: null };
  if (found.kind === "unknown") return { process: "unreadable", start: "absent", identity: null };
  const { identity } = found;
  return { process: "alive", start: matchStartId(named.startId, identity), identity };
}
