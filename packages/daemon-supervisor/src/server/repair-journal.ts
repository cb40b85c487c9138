import { ProtocolError, identitySchema } from "@holdfast/client/protocol";
import { digestOf, openJournal, quarantineJournal, readJournal } from "@holdfast/recovery-journal";
import type { JournalOwner, JournalReport } from "@holdfast/recovery-journal";
import { operationKinds, sessionDirectory } from "@holdfast/session-worker/transport";
import { safeParse } from "zod/mini";
import type { RepairOrder } from "./repair.ts";
import type { Services } from "./services.ts";

const directoryOf = ({ context }: Services, sessionId: string): string =>
  `${sessionDirectory(context.home, sessionId)}/journal`;

/** Puts a damaged journal aside (I71): its bytes are kept, and the session is not served before that is resolved, too. */
export function quarantine(services: Services, { sessionId, asserted }: RepairOrder): Promise<string> {
  const { context, stores } = services;
  const { fs, clock } = context;
  const directory = directoryOf(services, sessionId);
  refuseUnlessAtRest(services, sessionId);
  return stores.inLane(sessionId, async () => {
    const report = readJournal(directory, operationKinds, fs);
    if (!isDamaged(report)) throw refused("its journal is not damaged");
    const { why, path } = report;
    const result = await quarantineJournal({
      directory,
      kinds: operationKinds,
      owner: ownerHere(services),
      probeOwner: (owner) => probe(services, owner, asserted),
      seen: { why, path, sha256: digestOf(path, fs) },
      reason: "decided by a person, by agent doctor",
      fs,
      now: () => clock.now(),
    });
    if (result.kind === "quarantined") return `quarantine ${result.quarantine.id} stands until it is resolved`;
    if (result.kind === "changed") throw refused("its journal has changed since it was looked at");
    throw new ProtocolError("worker_identity_unknown", "nothing was changed: nothing proves that its writer is gone");
  });
}

const isDamaged = (
  report: JournalReport,
): report is Extract<JournalReport, { kind: "refused" }> & { readonly why: "corrupt" | "oversize" } =>
  report.kind === "refused" && (report.why === "corrupt" || report.why === "oversize");

/** Says in the journal that what it lost is accepted as lost: from then on it serves again. */
export function resolve(services: Services, { sessionId, asserted }: RepairOrder): Promise<string> {
  const { context, stores } = services;
  const { fs, clock } = context;
  refuseUnlessAtRest(services, sessionId);
  return stores.inLane(sessionId, async () => {
    const opened = await openJournal({
      directory: directoryOf(services, sessionId),
      kinds: operationKinds,
      owner: ownerHere(services),
      probeOwner: (owner) => probe(services, owner, asserted),
      fs,
      now: () => clock.now(),
    });
    if (opened.kind === "refused") throw refused(`${opened.path}: ${opened.message}`);
    if (opened.kind === "owned")
      throw new ProtocolError("worker_identity_unknown", "nothing was changed: nothing proves that its writer is gone");
    const { journal } = opened;
    const ids = journal.quarantines().map(({ id }) => id);
    try {
      for (const id of ids) await journal.resolveQuarantine(id, { by: "doctor", decision: "accepted as lost" });
    } finally {
      await journal.close();
    }
    return ids.length === 0 ? "nothing was left to resolve" : `resolved ${ids.join(", ")}; the evidence is kept`;
  });
}

/** Nothing else has its files: it is failed, passivated or not registered. */
function refuseUnlessAtRest({ context: { registry } }: Services, sessionId: string): void {
  const state = registry.newest(sessionId);
  if (state === null || state.name === "failed" || state.name === "passivated") return;
  throw new ProtocolError("session_running", "nothing was changed: the session has a process, or is about to", {
    hint: `agent session stop ${sessionId}`,
  });
}

const ownerHere = ({ context: { ids, self } }: Services): JournalOwner => ({
  generation: ids.newGeneration(),
  identity: { ...self },
});

/** `null`: no head names a writer; then the session's rest is all there is to go by, and a person's word decides. */
function probe({ context }: Services, owner: JournalOwner | null, asserted: boolean): "gone" | "current" | "unknown" {
  const identity = owner && safeParse(identitySchema, owner.identity);
  const kind = identity?.success ? context.observer.verdict(identity.data).kind : "unknown";
  if (kind === "unknown") return asserted ? "gone" : "unknown";
  return kind === "current" ? "current" : "gone";
}

const refused = (why: string): ProtocolError => new ProtocolError("usage", `nothing was changed: ${why}`);
