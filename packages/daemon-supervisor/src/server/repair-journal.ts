import { ProtocolError, identitySchema } from "@holdfast/client/protocol";
import { digestOf, openJournal, quarantineJournal, readJournal } from "@holdfast/recovery-journal";
import type { JournalOwner, JournalReport, OpenJournalOptions } from "@holdfast/recovery-journal";
import { operationKinds, sessionDirectory, verdictOf } from "@holdfast/session-worker/transport";
import type { OperationKind } from "@holdfast/session-worker/transport";
import { safeParse } from "zod/mini";
import type { RepairOrder } from "./repair.ts";
import { lifeHere } from "./repair-records.ts";
import type { Services } from "./services.ts";

const directoryOf = ({ context }: Services, sessionId: string): string =>
  `${sessionDirectory(context.home, sessionId)}/journal`;

/** Puts a damaged journal aside (I71): its bytes are kept, and the session is not served before that is resolved, too. */
export function quarantine(services: Services, order: RepairOrder): Promise<string> {
  const { sessionId } = order;
  const { context, stores } = services;
  const { fs } = context;
  refuseUnlessAtRest(services, sessionId);
  return stores.inLane(sessionId, async () => {
    const report = readJournal(directoryOf(services, sessionId), operationKinds, fs);
    if (!isDamaged(report)) throw refused("its journal is not damaged");
    const { why, path } = report;
    const journal = openable(services, order);
    const seen = { why, path, sha256: digestOf(path, fs) };
    const result = await quarantineJournal({ ...journal, seen, reason: "decided by a person, by agent doctor" });
    if (result.kind === "quarantined") {
      // Let go of at once: the quarantine is a record, and nobody is to take this daemon for a writer.
      const opened = await openJournal(journal);
      if (opened.kind === "opened") await opened.journal.close();
      return `quarantine ${result.quarantine.id} stands until it is resolved`;
    }
    if (result.kind === "changed") throw refused("its journal has changed since it was looked at");
    throw new ProtocolError("worker_identity_unknown", "nothing was changed: nothing proves that its writer is gone");
  });
}

const isDamaged = (
  report: JournalReport,
): report is Extract<JournalReport, { kind: "refused" }> & { readonly why: "corrupt" | "oversize" } =>
  report.kind === "refused" && (report.why === "corrupt" || report.why === "oversize");

/** Says in the journal that what it lost is accepted as lost: from then on it serves again. */
export function resolve(services: Services, order: RepairOrder): Promise<string> {
  const { sessionId } = order;
  const { stores } = services;
  refuseUnlessAtRest(services, sessionId);
  return stores.inLane(sessionId, async () => {
    const opened = await openJournal(openable(services, order));
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

type Openable = Omit<OpenJournalOptions<OperationKind>, "probeOwner"> & { readonly probeOwner: Probe };
type Probe = (owner: JournalOwner | null) => "gone" | "current" | "unknown";

function openable(services: Services, order: RepairOrder): Openable {
  const { fs, clock, ids, self } = services.context;
  return {
    directory: directoryOf(services, order.sessionId),
    kinds: operationKinds,
    owner: { generation: ids.newGeneration(), identity: { ...self } },
    probeOwner: prober(services, order),
    fs,
    now: () => clock.now(),
  };
}

/** Where no head names the writer, all that can be seen of the session decides; a person's word only where that is not enough. */
function prober(services: Services, { sessionId, asserted }: RepairOrder): Probe {
  const orAsserted = (kind: string): "gone" | "current" | "unknown" => {
    if (kind === "unknown") return asserted ? "gone" : "unknown";
    return kind === "current" || kind === "alive" ? "current" : "gone";
  };
  return (owner) => {
    const identity = owner && safeParse(identitySchema, owner.identity);
    return orAsserted(
      identity?.success
        ? verdictOf(services.context.observer, { identity: identity.data, lifelinePath: null }).kind
        : lifeHere(services, sessionId).kind,
    );
  };
}

const refused = (why: string): ProtocolError => new ProtocolError("usage", `nothing was changed: ${why}`);
