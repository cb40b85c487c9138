import type { Descriptor } from "./descriptor.ts";
import type { WorkerFiles } from "./descriptor-files.ts";
import type { Context } from "./effects/context.ts";
import { freshValues } from "./effects/context.ts";
import { removeLeftoverCgroups } from "./effects/leftovers.ts";
import { verdictOf } from "./verdict.ts";
import { decideBoot } from "./lifecycle/boot.ts";
import type { BootDecision, Found } from "./lifecycle/boot.ts";
import type { Effect, Fresh, Goal, State, StopIntent } from "./lifecycle/state.ts";
import { ADOPTION_MS } from "./lifecycle/times.ts";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { identitySchema } from "@holdfast/client/protocol";
import { reasonOf } from "@holdfast/shared-process";
import { readJournal } from "@holdfast/recovery-journal";
import { safeParse } from "zod/mini";
import { operationKinds, ownerFolder, sessionDirectory } from "@holdfast/session-worker/transport";
import { runFolder, sessionsFolder, workersFolder } from "./home.ts";
import { noteQuarantine } from "./records.ts";
import type { Records } from "./records.ts";
import { isResting } from "./session-index/row.ts";
import type { Sessions } from "./sessions.ts";
import { sweepTemporary } from "./sweep.ts";

function recordOf(descriptor: Descriptor | null, { failure }: SessionRecord): Found["record"] {
  if (descriptor === null) return failure ? "failed" : "none";
  return descriptor.lifecycle === "failed" ? "failed" : "process";
}

/** An archive that was written in full is not weakened by an older intent. */
const archived = ({ wanted }: SessionRecord, intent: StopIntent | null): StopIntent | null =>
  intent && wanted === "archived" ? { ...intent, goal: "archive" } : intent;

interface Seen {
  readonly descriptor: Descriptor | null;
  readonly intent: StopIntent | null;
  readonly fresh: Fresh;
  readonly now: number;
}

interface BootParts {
  readonly files: WorkerFiles;
  readonly records: Records;
  readonly sessions: Sessions;
  /** Sessions with a process, or with a record of one, are registered to be stopped; the rest is left to the next daemon. */
  readonly forMaintenance: boolean;
}

/** The catalog sweeps the folders of sessions. */
function sweep({ fs, home, log }: Context): void {
  for (const folder of [ownerFolder(home), workersFolder(home), runFolder(home), sessionsFolder(home)]) {
    const problem = sweepTemporary(fs, folder);
    if (problem === null) continue;
    log.warn({ folder, reason: reasonOf(problem) }, "what a write that was cut off left could not be removed");
  }
}

/** Decides every session of the home once, side by side; no decision waits for a worker. */
export function bootAll(context: Context, parts: BootParts): void {
  const { files, records, sessions } = parts;
  const bySession = new Map<string, Descriptor>();
  const { home } = context;
  sweep(context);
  removeLeftoverCgroups(home);
  for (const read of files.descriptors) {
    if (read.kind === "damaged") quarantine(context, sessions, read);
    else if (!context.catalog.summary(read.sessionId))
      quarantine(context, sessions, {
        sessionId: read.sessionId,
        reason: "it has a worker record but no session record",
      });
    else bySession.set(read.sessionId, read.descriptor);
  }
  for (const summary of context.catalog.all()) {
    const { sessionId } = summary;
    const descriptor = bySession.get(sessionId) ?? null;
    const bare = files.intents.get(sessionId) ?? null;
    // It is left as it is, and its record is not read.
    if (isResting(summary) && descriptor === null && bare === null) continue;
    if (sessions.quarantined.has(sessionId)) continue;
    const record = context.catalog.get(sessionId);
    if (!record) continue;
    if (descriptor) records.known(sessionId, shapeOf(descriptor));
    if (bare) records.knownIntents(sessionId, bare.paths);
    const fresh = freshValues(context, sessionId);
    const seen = {
      descriptor,
      intent: archived(record, bare?.intent ?? descriptor?.stop ?? null),
      fresh,
      now: context.clock.monotonic(),
    };
    const found: Found = {
      record: recordOf(descriptor, record),
      wanted: record.wanted,
      intent: seen.intent?.goal ?? null,
      verdict: descriptor ? simple(verdictOf(context.observer, descriptor.process).kind) : "gone",
    };
    const hasProcess = found.record === "process" || (found.record === "failed" && found.verdict !== "gone");
    if (parts.forMaintenance && !hasProcess && found.intent === null) continue;
    const decision = decideBoot(found);
    const writer = decision === "launch" ? livingWriter(context, sessionId) : null;
    if (writer !== null) {
      const reason = `process ${writer} writes its files, and no worker record names it`;
      quarantine(context, sessions, { sessionId, reason });
      continue;
    }
    const first = firstState(decision, { ...seen, failure: record.failure ?? null }, impliedGoal(found));
    context.log.info({ sessionId, found, decision }, "boot");
    if (first) context.registry.enroll(sessionId, first.state, first.effects);
  }
}

/** The process that may still write a session whose descriptor was lost: nothing is launched beside it (I144). */
function livingWriter({ home, fs, observer }: Context, sessionId: string): number | null {
  const report = readJournal(`${sessionDirectory(home, sessionId)}/journal`, operationKinds, fs);
  if (report.kind !== "ok" || report.released) return null;
  const identity = safeParse(identitySchema, report.owner.identity);
  if (!identity.success) return null;
  const { kind } = observer.verdict(identity.data);
  return kind === "current" || kind === "unknown" ? identity.data.pid : null;
}

function quarantine(
  context: Context,
  sessions: Sessions,
  { sessionId, reason }: { sessionId: string; reason: string },
): void {
  sessions.quarantined.set(sessionId, reason);
  const at = new Date(context.clock.now()).toISOString();
  const problem = noteQuarantine(context.fs, context.home, { sessionId, reason, at });
  context.log.warn({ sessionId, reason, problem }, "quarantined");
}

const simple = (kind: "current" | "replaced" | "gone" | "unknown"): Found["verdict"] =>
  kind === "replaced" ? "gone" : kind;

/** `wanted` is written before the descriptor's intent: a crash between the two still means the same end. */
const impliedGoal = ({ wanted }: Found): Goal =>
  wanted === "archived" ? "archive" : wanted === "passive" ? "passivate" : wanted === "stopped" ? "stop" : "replace";

const shapeOf = ({ lifecycle, process, launches, stop, reason, code }: Descriptor) => ({
  lifecycle,
  process,
  launches,
  ...(stop ? { stop } : {}),
  ...(reason === undefined ? {} : { reason }),
  ...(code === undefined ? {} : { code }),
});

type First = { readonly state: State; readonly effects: readonly Effect[] } | null;

function firstState(decision: BootDecision, seen: Seen & Pick<SessionRecord, "failure">, goal: Goal): First {
  const { descriptor, fresh, now } = seen;
  const process = descriptor?.process ?? null;
  const launches = descriptor?.launches ?? [];
  const intent = seen.intent ?? { stopId: fresh.stopId, requestedAt: fresh.at, goal, force: false };
  switch (decision) {
    case "quarantine":
    case "leave":
      return null;
    case "stay_passivated":
      return { state: { name: "passivated", due: null }, effects: [] };
    case "stay_failed": {
      const { reason = "its reason was not recorded", code = "session_failed" } = seen.failure ?? descriptor ?? {};
      return { state: { name: "failed", process, launches, reason, code, due: null }, effects: [] };
    }
    case "launch": {
      const due = { timer: "relaunch", at: now } as const;
      return {
        state: { name: "recovering", process: null, launches: [], phase: "waiting", terminal: null, cause: null, due },
        effects: [],
      };
    }
    case "finalize":
      return {
        state: { name: "finalizing", process, launches, intent, since: now, problem: null, due: null },
        effects: [{ type: "finalize", process, intent }],
      };
    case "recover":
    case "reconnect":
    case "continue_stop":
      return process
        ? withProcess(decision, { process, launches, intent, now, inherited: descriptor?.lifecycle === "recovering" })
        : null;
  }
}

type Live = Pick<Extract<State, { name: "stopping" }>, "launches" | "intent"> & {
  readonly process: Descriptor["process"];
  readonly now: number;
  readonly inherited: boolean;
};

function withProcess(
  decision: "recover" | "reconnect" | "continue_stop",
  { process, launches, intent, now, inherited }: Live,
): First {
  if (decision === "recover")
    return {
      state: {
        name: "recovering",
        process,
        launches,
        phase: "settling",
        inherited,
        terminal: null,
        cause: null,
        due: null,
      },
      effects: [{ type: "settle", process }],
    };
  const reach = [
    { type: "connect", process },
    { type: "watch", process },
  ] as const;
  if (decision === "reconnect")
    return { state: { name: "reconnecting", process, launches, due: null }, effects: reach };
  const due = { timer: "silence", at: now + ADOPTION_MS } as const;
  const { generation } = process;
  const stopping = { name: "stopping", process, generation, launches, intent, phase: "asked" } as const;
  return { state: { ...stopping, graceEndsAt: null, since: now, due }, effects: reach };
}
