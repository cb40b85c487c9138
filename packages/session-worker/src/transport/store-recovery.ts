import type { ActionKind, EventBody } from "@holdfast/client/protocol";
import { rewriteLines } from "@holdfast/recovery-journal";
import { invariant } from "@holdfast/shared-process";
import type { OpenOperation } from "@holdfast/recovery-journal";
import type { OpenActionRecord } from "./operation-kinds.ts";
import type { OperationKind } from "./store-contract.ts";
import { firstFrom, firstOfRun, lastHead, linesOf } from "./transcript-file.ts";
import type { TranscriptFile } from "./transcript-file.ts";

/** What the journal keeps of an action; its text stands in the transcript only (I152). */
export interface ActionDetail {
  readonly sequence: number;
  /** The cursor just before the acceptance. */
  readonly before: string;
  readonly requestId: string;
}

export interface Acceptance {
  readonly actionId: string;
  readonly requestId: string;
  readonly kind: ActionKind;
  readonly text: string;
}

const ACCEPTED = "prompt_accepted";
const STARTED = "turn_started";
/** Events that end an action; a steer ends one when it was injected. */
const ENDS: ReadonlySet<string> = new Set(["turn_ended", "action_cancelled", "steer"]);
/** What opening and settling write: a run of nothing else may have been cut short by a crash. */
const RECOVERY: ReadonlySet<string> = new Set(["turn_ended", "action_cancelled", "interrupted"]);

type Parsed = Readonly<Partial<Record<string, unknown>>>;

/** Written by `admit` alone, in a journal that checks itself. */
export function detailOf({ detail }: OpenOperation<OperationKind>): ActionDetail {
  const { sequence, before, requestId } = detail;
  invariant(
    typeof sequence === "number" && typeof before === "string" && typeof requestId === "string",
    "a detail of ours",
  );
  return { sequence, before, requestId };
}

export const isDispatched = (operation: OpenOperation<OperationKind>): boolean =>
  operation.notes.some((note) => note["phase"] === "dispatched");

/** The acceptance line of an open operation; `null` when the transcript does not hold it any more. */
export function acceptanceOf(file: TranscriptFile, operation: OpenActionRecord): Acceptance | null {
  const { sequence } = detailOf(operation);
  const placed = firstFrom(file, sequence);
  if (placed?.head?.type !== ACCEPTED || placed.head.sequence !== sequence) return null;
  const { actionId, requestId, text } = parse(placed.line);
  if (actionId !== operation.operationId || typeof requestId !== "string" || typeof text !== "string") return null;
  return { actionId, requestId, kind: operation.kind, text };
}

export interface Ends {
  /** Actions whose end stands in the transcript. */
  readonly ended: Set<string>;
  /** Actions named by an `interrupted` marker. */
  readonly marked: Set<string>;
  /** Actions whose turn began: even if a cut journal forgot their dispatch, they are never dispatched again (I161). */
  readonly started: Set<string>;
}

export const noEnds = (): Ends => ({ ended: new Set(), marked: new Set(), started: new Set() });

/**
 * The ends of actions at or after a sequence, so that settling after a crash says nothing twice (I136). They are durable with the next
 * flush.
 */
export function endsSince(file: TranscriptFile, sequence: number): Ends {
  const ends = noEnds();
  const first = firstFrom(file, sequence);
  if (!first) return ends;
  // Tokens end by what is found here, so it must be on disk: whoever wrote it may have died before, or with, a flush that failed.
  rewriteLines(file.path, first.offset, file.fs);
  for (const { line, head } of linesOf(file, first.offset))
    if (head && (ENDS.has(head.type) || head.type === "interrupted" || head.type === STARTED))
      collectEnd(ends, parse(line));
  return ends;
}

export function collectEnd({ ended, marked, started }: Ends, event: Parsed): void {
  const { type, actionId, outcome, operations } = event;
  if (type === STARTED) started.add(String(actionId));
  if (type === "interrupted" && Array.isArray(operations))
    for (const operation of operations) if (isRecord(operation)) marked.add(String(operation["operationId"]));
  if (typeof actionId !== "string" || typeof type !== "string" || !ENDS.has(type)) return;
  if (type !== "steer" || outcome === "injected") ended.add(actionId);
}

export interface Unrecorded {
  readonly actionId: string;
  /** Its turn began, so it was admitted once: its end was cut off, and how it ended is not known. */
  readonly started: boolean;
}

/**
 * Accepted lines without an end and without an open record: never admitted, or ended by a line that was lost. Reads the last writer's run, and the runs before it as long as they are only
 * traces of an earlier recovery; what lies further back was looked at when those runs began.
 */
export function withoutRecord(file: TranscriptFile, open: ReadonlySet<string>): readonly Unrecorded[] {
  const last = lastHead(file);
  let run = last && firstOfRun(file, last);
  while (run?.head && isRecoveryOnly(file, run.offset, run.head.generation)) {
    const previous = run.head.sequence > 1 ? firstFrom(file, run.head.sequence - 1) : null;
    if (!previous?.head || previous.offset >= run.offset) break;
    run = firstOfRun(file, previous.head);
  }
  if (!run) return [];
  const accepted = new Set<string>();
  const ends = noEnds();
  for (const { line, head } of linesOf(file, run.offset)) {
    if (!head) continue;
    const actionId = head.type === ACCEPTED ? parse(line)["actionId"] : null;
    if (typeof actionId === "string") accepted.add(actionId);
    else if (ENDS.has(head.type) || head.type === STARTED) collectEnd(ends, parse(line));
  }
  return [...accepted]
    .filter((actionId) => !ends.ended.has(actionId) && !open.has(actionId))
    .map((actionId) => ({ actionId, started: ends.started.has(actionId) }));
}

/** The directory of the shell at the last turn's end, from the end of the file backwards in growing steps. */
export function lastDirectory(file: TranscriptFile, size: number): string | null {
  for (let span = 64 * 1024; ; span *= 4) {
    const from = Math.max(0, size - span);
    let found: string | null = null;
    for (const { line, head } of linesOf(file, from, size)) {
      const cwd = head?.type === "turn_ended" ? parse(line)["cwd"] : undefined;
      if (typeof cwd === "string") found = cwd;
    }
    if (found !== null || from === 0) return found;
  }
}

export const markerOf = ({ actionId, kind, text }: Acceptance): EventBody => ({
  type: "interrupted",
  operations: [{ operationId: actionId, kind, title: titleOf(text) }],
});

const TITLE_CHARACTERS = 80;

/** The first line of a text, cut, without half a character at its end. */
export const titleOf = (text: string): string =>
  (text.split("\n", 1)[0] ?? "").slice(0, TITLE_CHARACTERS).replace(/[\uD800-\uDBFF]$/, "");

function isRecoveryOnly(file: TranscriptFile, offset: number, generation: string): boolean {
  for (const { head } of linesOf(file, offset)) {
    if (head && head.generation !== generation) return true;
    if (head && !RECOVERY.has(head.type)) return false;
  }
  return true;
}

/** A line that is damaged behind its head says nothing, and keeps nobody from the rest (I142). */
function parse(line: string): Parsed {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

const isRecord = (value: unknown): value is Parsed => typeof value === "object" && value !== null;
