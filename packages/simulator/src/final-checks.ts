import { readJournal } from "@holdfast/recovery-journal";
import { readTranscript, sessionDirectory, transcriptPath } from "@holdfast/session-worker/transport";
import { operationKinds } from "@holdfast/session-worker/transport";
import type { SessionRow } from "@holdfast/client/protocol";
import { readAllSessions, readSummaries, readWorkerFiles, summaryOf } from "@holdfast/daemon-supervisor/testing";
import type { Ledger } from "./ledger.ts";
import { HOME } from "./world/sim-supervisor.ts";
import type { World } from "./world/world.ts";

const RESTING: ReadonlySet<string> = new Set(["ready", "stopped", "failed", "passivated"]);

/** What must hold once nothing goes wrong any more and time has passed. */
export function checkEnd(world: World, ledger: Ledger, rows: readonly SessionRow[]): void {
  const { checks } = world;
  // Of those that run, or ran last, on the other machine nothing can be told here (I163).
  const elsewhere = new Set(
    checks.launched.filter(({ worker }) => worker.machine !== world.machine).map(({ sessionId }) => sessionId),
  );
  for (const row of rows.filter(({ sessionId }) => !elsewhere.has(sessionId))) {
    const name = world.nameOf(row.sessionId);
    if (!RESTING.has(row.state)) checks.violated(`I137 ${name} is left ${row.state}: ${row.reason ?? "no reason"}`);
    if (row.state === "failed" && !row.reason) checks.violated(`I154 ${name} failed without a reason`);
  }
  const ready = new Map(rows.filter(({ state }) => state === "ready").map((row) => [row.sessionId, row]));
  for (const { sessionId, generation, worker } of checks.launched) {
    if (!worker.isAlive || elsewhere.has(sessionId)) continue;
    if (ready.get(sessionId)?.generation !== generation)
      checks.violated(`I137 ${worker.label} of ${world.nameOf(sessionId)} is left over`);
  }
  for (const process of world.machine.processes()) {
    if (process.kind !== "agent" && process.kind !== "stray") continue;
    // What could not be told for the session's when it was swept is left alone.
    if (process.wasHidden) continue;
    const worker = checks.launched.find(({ worker: { label } }) => process.label.startsWith(`${label}/`));
    if (process.isAlive && worker?.worker.isAlive !== true) checks.violated(`I145 ${process.label} is left over`);
  }
  for (const request of ledger.refusals)
    if (checks.runsOf(request) > 0) checks.violated(`I143 ${request} was refused and ran`);
  checkActions(world, ledger, ready);
  checkIndex(world, rows);
}

/** Whoever reads the index, and whoever asks the supervisor, which began with it, hears what the records say (I140). */
function checkIndex(world: World, rows: readonly SessionRow[]): void {
  const { checks, disk } = world;
  const sessions = readAllSessions(disk, HOME);
  const { intents } = readWorkerFiles(disk, HOME);
  const told = readSummaries(disk, HOME);
  const said = (reads: typeof told): string =>
    JSON.stringify(reads.map((read) => (read.kind === "record" ? summaryOf(read.record) : read)));
  if (said(told) !== said(sessions))
    checks.violated(`I140 the index says ${said(told)}, and the records say ${said(sessions)}`);
  for (const read of sessions) {
    if (read.kind !== "record") continue;
    const { sessionId, name, wanted } = read.record;
    const row = rows.find((listed) => listed.sessionId === sessionId);
    if (row?.name !== name)
      checks.violated(`I140 ${world.nameOf(sessionId)} is listed as ${row?.name}, and its record says ${name}`);
    // What a full disk did not take stands in a bare name.
    const isArchived = wanted === "archived" || intents.get(sessionId)?.intent.goal === "archive";
    if ((row?.lifecycle === "archived") !== isArchived)
      checks.violated(`I140 ${world.nameOf(sessionId)} is listed as ${row?.lifecycle}, and its record says ${wanted}`);
  }
}

interface Ended {
  readonly type: string;
  readonly stopReason: string | null;
}

/** The end of each action, as the session's transcript tells it. */
function endsOf(world: World, sessionId: string): Map<string, Ended> {
  const ends = new Map<string, Ended>();
  const path = transcriptPath(sessionDirectory(HOME, sessionId));
  if (!world.disk.exists(path)) return ends;
  for (const { line } of readTranscript({ path, fs: world.disk })) {
    const { type, actionId, stopReason, outcome } = JSON.parse(line);
    const isEnd = type === "turn_ended" || type === "action_cancelled" || (type === "steer" && outcome === "injected");
    if (isEnd) ends.set(actionId, { type, stopReason: stopReason ?? null });
  }
  return ends;
}

function checkActions(world: World, ledger: Ledger, ready: ReadonlyMap<string, SessionRow>): void {
  const { checks } = world;
  const bySession = new Map<string, Map<string, Ended>>();
  for (const { requestId, sessionId, actionId } of ledger.acknowledged) {
    const ends = bySession.get(sessionId) ?? endsOf(world, sessionId);
    bySession.set(sessionId, ends);
    const end = ends.get(actionId);
    if (end) {
      const mustRun = end.type === "turn_ended" && end.stopReason === "end_turn";
      if (mustRun && checks.runsOf(requestId) === 0) checks.violated(`I143 ${requestId} ended and never ran`);
      continue;
    }
    const report = readJournal(`${sessionDirectory(HOME, sessionId)}/journal`, operationKinds, world.disk);
    const isOpen = report.kind === "ok" && report.open.some(({ operationId }) => operationId === actionId);
    if (!isOpen) checks.violated(`I143 ${requestId} was acknowledged and is lost`);
    // A worker whose files take nothing more says so in its row, and waits for a person.
    else if (ready.has(sessionId) && ready.get(sessionId)?.reason === null)
      checks.violated(`I137 ${requestId} was acknowledged and waits for nothing`);
  }
}
