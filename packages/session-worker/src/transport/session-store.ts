import type { Journal, JsonObject, OperationToken } from "@holdfast/recovery-journal";
import { CodedError, invariant, reasonOf } from "@holdfast/shared-process";
import type { Ids } from "@holdfast/shared-process";
import { attachFrom } from "@holdfast/client/protocol";
import type { EventBody, SessionEvent } from "@holdfast/client/protocol";
import { formatCursor } from "./cursor.ts";
import type { Admission, AdmitResult, OperationKind, QueuedAction, SessionStore, SettledAs } from "./store-contract.ts";
import {
  acceptanceOf,
  collectEnd,
  detailOf,
  endsSince,
  isDispatched,
  markerOf,
  noEnds,
  withoutRecord,
} from "./store-recovery.ts";
import type { Ends } from "./store-recovery.ts";
import { isAction } from "./operation-kinds.ts";
import { RetainedProcesses } from "./retained.ts";
import { outcomeOf, settledOf } from "./settled.ts";
import type { TranscriptFile } from "./transcript-file.ts";
import type { TranscriptWriter } from "./transcript-writer.ts";
import { Unsaid } from "./unsaid.ts";

export interface StoreParts {
  readonly journal: Journal<OperationKind>;
  readonly writer: TranscriptWriter;
  readonly file: TranscriptFile;
  readonly generation: string;
  readonly ids: Ids;
  readonly remembers: boolean;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface OpenAction extends Mutable<QueuedAction> {
  readonly token: OperationToken<OperationKind>;
  readonly sequence: number;
  readonly before: string;
}

const viewOf = ({ actionId, requestId, kind, text, phase }: QueuedAction): QueuedAction => ({
  actionId,
  requestId,
  kind,
  text,
  phase,
});

/** The one writer of a session that `openSessionStore` made. */
export class OpenedStore implements SessionStore {
  readonly retained: RetainedProcesses;
  readonly #parts: StoreParts;
  readonly #actions = new Map<string, OpenAction>();
  /** Requests whose admission is on its way: their repeats wait for the same answer (I143). */
  readonly #asked = new Map<string, { readonly hash: string; readonly answer: Promise<AdmitResult> }>();
  /** Requests without work on their way to the disk: each promise is over when it is there or refused. */
  readonly #onces = new Map<string, Promise<void>>();
  readonly #unsaid: Unsaid;
  #ends: Ends = noEnds();
  #remembers: boolean;
  /** The cursor before the first notice since the last acceptance. */
  #noticesFrom: string | null = null;
  #closing: Promise<void> | null = null;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#remembers = parts.remembers;
    this.#unsaid = new Unsaid({ append: (event) => void this.append(event), sync: () => this.sync() });
    this.retained = new RetainedProcesses(parts.journal, parts.generation);
  }

  get transcriptPath(): string {
    return this.#parts.writer.path;
  }

  get transcriptSize(): number {
    return this.#parts.writer.size;
  }

  get endCursor(): string {
    const { end } = this.#parts.writer;
    return end ? formatCursor(end) : attachFrom.start;
  }

  get remembers(): boolean {
    return this.#remembers || this.#actions.size > 0 || this.retained.size > 0;
  }

  /** Takes over what the journal has open, and says of the rest that it was never admitted. */
  async restore(): Promise<void> {
    const { journal, file } = this.#parts;
    const open = journal.open().filter(isAction);
    for (const { actionId, started } of withoutRecord(file, new Set(open.map(({ operationId }) => operationId))))
      this.append(
        started
          ? { type: "turn_ended", turnId: actionId, actionId, stopReason: "interrupted" }
          : { type: "action_cancelled", actionId, reason: "not admitted" },
      );
    const lost: string[] = [];
    for (const operation of open) {
      const token = journal.adopt(operation);
      invariant(token, "an open operation can be adopted");
      const acceptance = acceptanceOf(file, operation);
      const { sequence, before, requestId } = detailOf(operation);
      const phase = isDispatched(operation) ? "dispatched" : "accepted";
      const action = acceptance ?? { actionId: operation.operationId, requestId, kind: operation.kind, text: "" };
      this.#actions.set(action.actionId, { ...action, phase, token, sequence, before });
      if (!acceptance && phase === "accepted") lost.push(action.actionId);
    }
    const all = [...this.#actions.values()];
    if (all.length > 0) this.#ends = endsSince(file, Math.min(...all.map(({ sequence }) => sequence)));
    for (const action of all) if (this.#ends.started.has(action.actionId)) action.phase = "dispatched";
    for (const actionId of lost) this.#sayCancelled(actionId, "its text is lost");
    await this.sync();
    // Cancelled before the crash, and said so: it stays cancelled (I125).
    for (const { actionId, phase } of all)
      if (phase === "accepted" && this.#ends.ended.has(actionId)) await this.settle(actionId, { outcome: "cancelled" });
  }

  actions(): readonly QueuedAction[] {
    return [...this.#actions.values()].map(viewOf);
  }

  async admit(admission: Admission): Promise<AdmitResult> {
    const { requestId, hash } = admission;
    while (this.#onces.has(requestId)) await this.#onces.get(requestId);
    const asked = this.#asked.get(requestId);
    if (asked) {
      if (asked.hash !== hash) return { kind: "reused" };
      const first = await asked.answer;
      if (first.kind !== "accepted") return first;
      return { kind: "repeated", actionId: first.action.actionId, cursor: first.cursor, settled: null };
    }
    const remembered = this.#parts.journal.remembered(requestId);
    if (remembered) return remembered.hash === hash ? this.#repeat(requestId, remembered.outcome) : { kind: "reused" };
    const answer = this.#accept(admission);
    this.#asked.set(requestId, { hash, answer });
    try {
      return await answer;
    } finally {
      this.#asked.delete(requestId);
    }
  }

  async once({ requestId, hash }: { requestId: string; hash: string }): Promise<"first" | "repeated" | "reused"> {
    const { journal } = this.#parts;
    // The same request is on its way to the disk: what it is told decides.
    while (this.#onces.has(requestId)) await this.#onces.get(requestId);
    if (this.#asked.has(requestId)) return "reused";
    const known = journal.remembered(requestId);
    if (known) return known.hash === hash ? "repeated" : "reused";
    const written = journal.remember({ requestId, hash, outcome: {} });
    this.#onces.set(
      requestId,
      written.catch(() => undefined),
    );
    try {
      await written;
    } finally {
      this.#onces.delete(requestId);
    }
    this.#remembers = true;
    return "first";
  }

  #repeat(requestId: string, outcome: JsonObject | null): AdmitResult {
    if (outcome) return { kind: "repeated", ...settledOf(outcome) };
    const action = [...this.#actions.values()].find((open) => open.requestId === requestId);
    invariant(action, "a request without an outcome has an open action");
    return { kind: "repeated", actionId: action.actionId, cursor: action.before, settled: null };
  }

  async #accept({ requestId, hash, kind, text }: Admission): Promise<AdmitResult> {
    const { journal, writer, ids, generation } = this.#parts;
    const actionId = ids.newId();
    // A notice that nobody was attached for (a new shell, variables lost) belongs to what is asked next.
    const before = this.#noticesFrom ?? this.endCursor;
    this.keepName();
    this.#unsaid.say();
    this.append({ type: "prompt_accepted", actionId, kind, text, requestId });
    const sequence = writer.end?.sequence ?? 0;
    let wasLive = false;
    try {
      await writer.sync();
      wasLive = journal.state === "live";
      const detail = { sequence, before, requestId };
      const token = await journal.admit({ operationId: actionId, generation, kind, detail }, { requestId, hash });
      this.#remembers = true;
      this.#noticesFrom = null;
      const action = { actionId, requestId, kind, text, phase: "accepted" } as const;
      this.#insert({ ...action, token, sequence, before });
      return { kind: "accepted", action, cursor: before };
    } catch (error) {
      this.#unsaid.refused(actionId);
      if (wasLive && (await this.#unsaid.mayBeFound(actionId, error)))
        throw new CodedError("admission_unknown", `whether it is recorded is not known: ${reasonOf(error)}`, {
          cause: error,
        });
      throw error;
    }
  }

  /** Admissions resolve in the order of their lines, but a promise is not an order to rely on. */
  #insert(action: OpenAction): void {
    const later = [...this.#actions.values()].filter(({ sequence }) => sequence > action.sequence);
    this.#actions.set(action.actionId, action);
    for (const other of later) {
      this.#actions.delete(other.actionId);
      this.#actions.set(other.actionId, other);
    }
  }

  async dispatch(actionId: string): Promise<void> {
    const action = this.#actions.get(actionId);
    invariant(action?.phase === "accepted", "only an accepted action is dispatched, and once (I161)");
    action.phase = "dispatched";
    try {
      await this.#parts.journal.note(action.token, { phase: "dispatched" });
    } catch (error) {
      // Nothing reached the agent, so it still waits.
      action.phase = "accepted";
      throw error;
    }
  }

  append(event: EventBody): SessionEvent {
    if (event.type === "restored") this.#noticesFrom ??= this.endCursor;
    const stamped = this.#parts.writer.append(event);
    collectEnd(this.#ends, event);
    return stamped;
  }

  keepName(): void {
    this.#parts.writer.keepName();
  }

  sync(): Promise<void> {
    return this.#parts.writer.sync();
  }

  async settle(actionId: string, as: SettledAs): Promise<void> {
    await this.sync();
    const action = this.#actions.get(actionId);
    // An end without its open action creates nothing (I72).
    if (action) await this.#parts.journal.end(action.token, outcomeOf(actionId, action.before, as));
    this.#actions.delete(actionId);
    for (const known of [this.#ends.ended, this.#ends.marked, this.#ends.started]) known.delete(actionId);
  }

  async settleInterrupted(): Promise<readonly QueuedAction[]> {
    const dispatched = [...this.#actions.values()].filter(({ phase }) => phase === "dispatched");
    if (dispatched.length === 0) return [];
    const { ended, marked } = this.#ends;
    const interrupted = dispatched.filter(({ actionId }) => !ended.has(actionId));
    for (const action of interrupted) {
      const { actionId } = action;
      if (!marked.has(actionId)) this.append(markerOf(action));
      this.append({ type: "turn_ended", turnId: actionId, actionId, stopReason: "interrupted" });
    }
    await this.sync();
    for (const action of dispatched)
      await this.settle(
        action.actionId,
        interrupted.includes(action) ? { outcome: "interrupted", stopReason: "interrupted" } : { outcome: "ended" },
      );
    return interrupted.map(viewOf);
  }

  async cancelAll(reason: string): Promise<void> {
    const accepted = [...this.#actions.values()].filter(({ phase }) => phase === "accepted");
    for (const { actionId } of accepted) this.#sayCancelled(actionId, reason);
    await this.sync();
    for (const { actionId } of accepted) await this.settle(actionId, { outcome: "cancelled", reason });
  }

  #sayCancelled(actionId: string, reason: string): void {
    if (!this.#ends.ended.has(actionId)) this.append({ type: "action_cancelled", actionId, reason });
  }

  onEvent(listener: (event: SessionEvent, line: string) => void): Disposable {
    return this.#parts.writer.onEvent(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { writer, journal } = this.#parts;
    try {
      await writer.sync();
    } finally {
      writer[Symbol.dispose]();
      await journal.close();
    }
  }
}
