import { shapeOf } from "./descriptor.ts";
import type { Descriptor } from "./descriptor.ts";
import { bareIntentOf, sortNames } from "./descriptor-files.ts";
import type { WorkerFiles } from "./descriptor-files.ts";
import type { Context } from "./effects/context.ts";
import { freshValues } from "./effects/context.ts";
import type { Trees } from "./effects/trees.ts";
import { decideBoot } from "./lifecycle/boot.ts";
import type { BootDecision, Found } from "./lifecycle/boot.ts";
import { withinWindow } from "./lifecycle/budget.ts";
import { waitOrFail } from "./lifecycle/parts.ts";
import type { Effect, Fresh, Goal, LaunchTime, State, StopIntent } from "./lifecycle/state.ts";
import { ADOPTION_MS } from "./lifecycle/times.ts";
import type { SessionRecord, Wanted } from "@holdfast/session-worker/transport";
import { invariant, reasonOf } from "@holdfast/shared-process";
import { ownerFolder, verdictOf } from "@holdfast/session-worker/transport";
import { runFolder, sessionsFolder, workersFolder } from "./home.ts";
import { wantedOfGone } from "./left.ts";
import { journalLife } from "./life.ts";
import { OLDER_FORM } from "./older/form.ts";
import { takeOlder } from "./older/take.ts";
import type { OlderEnd } from "./older/take.ts";
import { noteQuarantine } from "./quarantined.ts";
import type { Records } from "./records.ts";
import { isResting } from "./session-index/row.ts";
import { sweepTemporary } from "./sweep.ts";

function recordOf(descriptor: Descriptor | null, ended: OlderEnd | null, { failure }: SessionRecord): Found["record"] {
  if (ended) return ended.failed ? "failed" : "ended";
  if (descriptor === null) return failure ? "failed" : "none";
  return descriptor.lifecycle === "failed" ? "failed" : "process";
}

/**
 * The session's own record is written before the intent beside the process, so its goal is never the older one. A bare name stands
 * where the record could not be written, or was left from before, and an older form was written by other rules: there the stronger counts.
 */
function intentOf({ wanted }: SessionRecord, { descriptor, bare, end }: Intents): StopIntent | null {
  const own = descriptor?.stop ?? null;
  if (own && !bare && descriptor?.process.protocol !== null) return { ...own, goal: goalFor[wanted] };
  const named = bare ?? own ?? end;
  const outranks = wanted === "archived" || (wanted === "stopped" && named?.goal === "passivate");
  return named && outranks ? { ...named, goal: goalFor[wanted] } : named;
}

interface Intents {
  readonly descriptor: Descriptor | null;
  readonly bare: StopIntent | null;
  /** Of an older form whose process is gone. */
  readonly end: StopIntent | null;
}

interface Seen {
  readonly descriptor: Descriptor | null;
  readonly intent: StopIntent | null;
  readonly fresh: Fresh;
  readonly now: number;
}

interface BootParts {
  readonly files: WorkerFiles;
  readonly records: Records;
  readonly trees: Pick<Trees, "removeLeftovers">;
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
  const { files, records } = parts;
  sweep(context);
  parts.trees.removeLeftovers();
  const { named, ended } = sortReads(context, parts);
  for (const summary of context.catalog.all()) {
    const { sessionId } = summary;
    const descriptor = named.get(sessionId) ?? null;
    const end = ended.get(sessionId) ?? null;
    const names = files.intents.get(sessionId)?.paths ?? [];
    // It is left as it is, and its record is not read.
    if (isResting(summary) && descriptor === null && end === null && names.length === 0) continue;
    if (context.catalog.quarantined.has(sessionId)) continue;
    const record = wholeRecord(context, sessionId);
    if (record === null) continue;
    const { standing, overtaken } = sortNames(names, record);
    const bare = bareIntentOf(standing);
    records.knownIntents(sessionId, { standing, overtaken });
    const fresh = freshValues(context, sessionId);
    const seen = {
      descriptor,
      intent: intentOf(record, { descriptor, bare: bare?.intent ?? null, end: end?.intent ?? null }),
      fresh,
      now: context.clock.monotonic(),
    };
    const verdict = descriptor ? simple(verdictOf(context.observer, descriptor.process).kind) : "gone";
    const wanted = descriptor && verdict === "gone" ? wantedOfGone(context, record, descriptor) : record.wanted;
    const found: Found = {
      record: recordOf(descriptor, end, record),
      wanted: end?.rests && wanted === "running" ? "passive" : wanted,
      intent: seen.intent?.goal ?? null,
      verdict,
    };
    const hasProcess = found.record === "process" || (found.record === "failed" && found.verdict !== "gone");
    if (parts.forMaintenance && !hasProcess && found.intent === null) continue;
    const decision = decideBoot(found);
    const life = decision === "launch" ? journalLife(context, sessionId) : null;
    if (life && life.kind !== "gone") {
      quarantine(context, { sessionId, reason: `${life.why}, and no worker record names it` });
      continue;
    }
    const first = firstState(decision, { ...seen, record }, goalFor[found.wanted]);
    context.log.info({ sessionId, found, decision }, "boot");
    if (first) context.registry.enroll(sessionId, first.state, first.effects);
  }
}

/** `null`: it cannot be read now, which must not keep the home from its owner (I142). */
function wholeRecord(context: Context, sessionId: string): SessionRecord | null {
  let reason: string | undefined;
  try {
    const record = context.catalog.hold(sessionId);
    if (record) return record;
    reason = context.catalog.quarantined.get(sessionId);
  } catch (error) {
    reason = reasonOf(error);
  }
  quarantine(context, { sessionId, reason: reason ?? "its record is gone" });
  return null;
}

interface Sorted {
  readonly named: ReadonlyMap<string, Descriptor>;
  readonly ended: ReadonlyMap<string, OlderEnd>;
}

/** What may be acted upon; the rest is quarantined, each for itself (I81, I142). */
function sortReads(context: Context, { files, records, forMaintenance }: BootParts): Sorted {
  const named = new Map<string, Descriptor>();
  const ended = new Map<string, OlderEnd>();
  for (const read of files.descriptors) {
    const { sessionId } = read;
    if (!context.catalog.summary(sessionId) && read.kind !== "damaged") {
      const reason = context.catalog.quarantined.get(sessionId) ?? "it has a worker record but no session record";
      quarantine(context, { sessionId, reason });
      continue;
    }
    // A stop of everything takes what is named and proven already; the rest is for a daemon (I90).
    if (read.kind === "older" && forMaintenance) {
      context.catalog.quarantined.set(sessionId, OLDER_FORM);
      continue;
    }
    const taken = read.kind === "older" ? takeOlder(context, read) : read;
    if (read.kind === "older" && taken.kind !== "damaged") records.knownOlder(sessionId);
    if (taken.kind === "damaged") quarantine(context, taken);
    else if (taken.kind === "ended") ended.set(sessionId, taken.end);
    else {
      if (read.kind === "descriptor") records.known(sessionId, shapeOf(taken.descriptor));
      named.set(sessionId, taken.descriptor);
    }
  }
  return { named, ended };
}

function quarantine(context: Context, { sessionId, reason }: { sessionId: string; reason: string }): void {
  context.catalog.quarantined.set(sessionId, reason);
  const at = new Date(context.clock.now()).toISOString();
  const problem = noteQuarantine(context.fs, context.home, { sessionId, reason, at });
  context.log.warn({ sessionId, reason, problem }, "quarantined");
}

const simple = (kind: "current" | "replaced" | "gone" | "unknown"): Found["verdict"] =>
  kind === "replaced" ? "gone" : kind;

/** `wanted` is written before the descriptor's intent: a crash between the two still means the same end. */
const goalFor: Record<Wanted, Goal> = {
  archived: "archive",
  passive: "passivate",
  stopped: "stop",
  running: "replace",
};

type First = { readonly state: State; readonly effects: readonly Effect[] } | null;

function firstState(decision: BootDecision, seen: Seen & { readonly record: SessionRecord }, goal: Goal): First {
  const { descriptor, fresh, now, record } = seen;
  const process = descriptor?.process ?? null;
  const launches = record.launches ?? descriptor?.launches ?? [];
  const intent = seen.intent ?? { stopId: fresh.stopId, requestedAt: fresh.at, goal, force: false };
  switch (decision) {
    case "quarantine":
    case "leave":
      return null;
    case "stay_passivated":
      return { state: { name: "passivated", due: null }, effects: [] };
    case "stay_failed": {
      const { reason = "its reason was not recorded", code = "session_failed" } = record.failure ?? descriptor ?? {};
      return { state: { name: "failed", process, launches, reason, code, due: null }, effects: [] };
    }
    case "launch":
      return firstLaunch(launches, fresh, now);
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

/** At once; after launches that a predecessor began and nobody saw, as the next of them (I154). */
function firstLaunch(launches: readonly LaunchTime[], fresh: Fresh, now: number): First {
  const counted = withinWindow(launches, { at: now, bootId: fresh.bootId });
  if (counted.length > 0) {
    const next = waitOrFail({ process: null, launches: counted, terminal: null, inherited: true }, fresh, now);
    invariant(next.kind === "move", "a recovery waits or fails");
    return next;
  }
  const due = { timer: "relaunch", at: now } as const;
  const waiting = { name: "recovering", process: null, phase: "waiting", terminal: null, cause: null } as const;
  return { state: { ...waiting, launches: [], due }, effects: [] };
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
