import { invariant } from "@holdfast/shared-process";
import { RECORD_MAX_BYTES } from "../format.ts";
import { LINE_OVERHEAD_BYTES } from "../format/line.ts";
import { type LiveRecord, parseRecord, type StoredOperation } from "../format/records.ts";
import { storedJson } from "../format/stored-json.ts";
import type {
  BeginRequest,
  Journal,
  JsonObject,
  OpenOperation,
  OperationKey,
  OperationToken,
  Quarantine,
  RememberedRequest,
} from "../types.ts";
import { CommitQueue, type CommitQueueOptions, type QueueState } from "./commit-queue.ts";
import { journalError } from "./errors.ts";
import { findRemembered, forgetOld, type RememberLimits } from "./remember.ts";
import { applyRecord, hasRoomFor, type JournalState, type OpenEntry, openOperations } from "./state.ts";

export interface JournalWriterOptions<Kind extends string> extends Omit<CommitQueueOptions, "apply"> {
  readonly kinds: readonly Kind[];
  readonly now: () => number;
  readonly remember: RememberLimits;
}

type RequestName = { readonly requestId: string; readonly hash: string };

/**
 * The open journal: admits records against what is durable and what is on its way, and keeps the state that the durable ones make.
 * The state changes only after the flush, so that nothing is ever seen that a crash could take back.
 */
export class JournalWriter<Kind extends string> implements Journal<Kind> {
  readonly #options: JournalWriterOptions<Kind>;
  readonly #state: JournalState;
  readonly #queue: CommitQueue;
  /** Which begin a token stands for: a token of an ended operation does not fit a later one of the same name (I66, I72). */
  readonly #tokens = new WeakMap<OperationKey, number>();
  readonly #beginning = new Set<string>();
  readonly #ending = new Map<number, Promise<void>>();
  readonly #asking = new Set<string>();
  readonly #resolving = new Map<string, Promise<void>>();
  #staleEnds = 0;
  #closing: Promise<void> | null = null;

  constructor(options: JournalWriterOptions<Kind>) {
    this.#options = options;
    this.#state = options.state;
    this.#queue = new CommitQueue({ ...options, apply: (record) => this.#apply(record) });
    forgetOld(this.#state, options.remember, options.now());
  }

  get state(): QueueState {
    return this.#queue.state;
  }

  async begin(request: BeginRequest<Kind>): Promise<OperationToken<Kind>> {
    const [token] = await this.#begin([request], null);
    invariant(token !== undefined, "one begin makes one token");
    return token;
  }

  async admit(request: BeginRequest<Kind>, remembered: RequestName): Promise<OperationToken<Kind>> {
    const { requestId } = remembered;
    if (this.remembered(requestId) !== null) {
      throw journalError("duplicate_request", `request ${requestId} was admitted before`);
    }
    const [token] = await this.#asked(requestId, () => this.#begin([request], remembered));
    invariant(token !== undefined, "one begin makes one token");
    return token;
  }

  /** One record of a request at a time: of two in one batch the later would take the place of the other. */
  async #asked<T>(requestId: string, append: () => Promise<T>): Promise<T> {
    if (this.#asking.has(requestId)) throw journalError("duplicate_request", `request ${requestId} is being recorded`);
    this.#asking.add(requestId);
    try {
      return await append();
    } finally {
      this.#asking.delete(requestId);
    }
  }

  async restore(requests: readonly BeginRequest<Kind>[]): Promise<readonly OperationToken<Kind>[]> {
    return requests.length === 0 ? [] : this.#begin(requests, null);
  }

  adopt(key: OperationKey): OperationToken<Kind> | null {
    const entry = this.#state.open.get(key.operationId);
    if (entry === undefined || entry.operation.g !== key.generation) return null;
    return this.#tokenOf(entry);
  }

  async note(token: OperationToken<Kind>, detail: JsonObject): Promise<void> {
    const entry = this.#entryOf(token);
    if (entry === null) throw journalError("stale_token", `operation ${token.operationId} is not open`);
    await this.#append({ t: "note", id: entry.operation.id, g: entry.operation.g, detail: storedJson(detail) });
  }

  async end(token: OperationToken<Kind>, outcome: JsonObject): Promise<"ended" | "stale"> {
    const stored = storedJson(outcome);
    // Another end that is on its way may fail: nothing is stale before it is durable.
    for (let other = this.#endOf(token); other !== undefined; other = this.#endOf(token))
      await other.catch(() => undefined);
    const entry = this.#entryOf(token);
    if (entry === null) {
      this.#staleEnds += 1;
      return "stale";
    }
    const end = this.#append({ t: "end", id: entry.operation.id, g: entry.operation.g, outcome: stored });
    this.#ending.set(entry.order, end);
    try {
      await end;
      return "ended";
    } finally {
      this.#ending.delete(entry.order);
    }
  }

  #endOf(token: OperationToken<Kind>): Promise<void> | undefined {
    return this.#ending.get(this.#tokens.get(token) ?? 0);
  }

  async remember(request: RequestName & { readonly outcome: JsonObject }): Promise<void> {
    const { requestId: id, hash } = request;
    const outcome = storedJson(request.outcome);
    await this.#asked(id, () => this.#append({ t: "request", id, hash, outcome, at: this.#options.now() }));
  }

  remembered(requestId: string): RememberedRequest | null {
    return findRemembered(this.#state, requestId, { limits: this.#options.remember, now: this.#options.now() });
  }

  open(): readonly OpenOperation<Kind>[] {
    return openOperations(this.#state, this.#options.kinds);
  }

  quarantines(): readonly Quarantine[] {
    return [...this.#state.quarantines.values()];
  }

  async resolveQuarantine(id: string, resolution: JsonObject): Promise<void> {
    const stored = storedJson(resolution);
    for (let other = this.#resolving.get(id); other !== undefined; other = this.#resolving.get(id))
      await other.catch(() => undefined);
    if (!this.#state.quarantines.has(id)) {
      throw journalError("unknown_quarantine", `there is no unresolved quarantine ${id}`);
    }
    const resolved = this.#append({ t: "resolve", id, resolution: stored });
    this.#resolving.set(id, resolved);
    try {
      await resolved;
    } finally {
      this.#resolving.delete(id);
    }
  }

  counters(): { staleEnds: number; flushes: number; records: number; compactions: number } {
    return { staleEnds: this.#staleEnds, ...this.#queue.counters };
  }

  close(): Promise<void> {
    this.#closing ??= this.#release();
    return this.#closing;
  }

  async #release(): Promise<void> {
    try {
      await this.#send({ t: "release" });
    } catch {
      // Poisoned, fenced or full: the next owner probes instead, and a close must come to its end (I168).
    }
    this.#queue.close();
  }

  /** All or nothing; whatever is wrong is found before a byte or a sequence is used (I73). */
  async #begin(
    requests: readonly BeginRequest<Kind>[],
    asked: RequestName | null,
  ): Promise<readonly OperationToken<Kind>[]> {
    const ops = requests.map(storedOperation);
    const ids = new Set(ops.map(({ id }) => id));
    if (ids.size < ops.length) throw journalError("duplicate_operation", "an operation is twice in one list");
    const taken = [...ids].find((id) => this.#state.open.has(id) || this.#beginning.has(id));
    if (taken !== undefined) throw journalError("duplicate_operation", `operation ${taken} is open`);
    const kinds = new Set<string>(this.#options.kinds);
    for (const { k } of ops) invariant(kinds.has(k), `operation kind ${k} is declared`);
    if (!hasRoomFor(this.#state, this.#beginning.size + ops.length)) {
      throw journalError("journal_full", "too many operations are open");
    }
    const req = asked === null ? null : { id: asked.requestId, hash: asked.hash, at: this.#options.now() };
    for (const id of ids) this.#beginning.add(id);
    const tokens: OperationToken<Kind>[] = [];
    try {
      await this.#append({ t: "begin", ops, req }, () => tokens.push(...ops.map(({ id }) => this.#tokenOfOpen(id))));
    } finally {
      for (const id of ids) this.#beginning.delete(id);
    }
    return tokens;
  }

  #append(record: LiveRecord, settled?: () => void): Promise<void> {
    if (this.#closing !== null) throw journalError("journal_closed", "the journal is closed");
    return this.#send(record, settled);
  }

  #send(record: LiveRecord, settled?: () => void): Promise<void> {
    const json = JSON.stringify(record);
    const bytes = Buffer.byteLength(json);
    if (bytes > RECORD_MAX_BYTES) throw journalError("record_too_large", `a record has ${bytes} bytes`);
    invariant(parseRecord(record) !== null, "a record that is appended can be read back");
    return new Promise<void>((resolve, reject) => {
      const settle = (): void => {
        settled?.();
        resolve();
      };
      this.#queue.append({ record, json, bytes: bytes + LINE_OVERHEAD_BYTES, settle, reject });
    });
  }

  #apply(record: LiveRecord): void {
    const problem = applyRecord(this.#state, record);
    invariant(problem === null, `an admitted record fits the state: ${problem}`);
    if (record.t === "begin" || record.t === "request") {
      forgetOld(this.#state, this.#options.remember, this.#options.now());
    }
  }

  #entryOf(token: OperationToken<Kind>): OpenEntry | null {
    const entry = this.#state.open.get(token.operationId);
    if (entry === undefined || this.#tokens.get(token) !== entry.order || this.#ending.has(entry.order)) return null;
    return entry;
  }

  #tokenOfOpen(id: string): OperationToken<Kind> {
    const entry = this.#state.open.get(id);
    invariant(entry !== undefined, "a durable begin is open");
    return this.#tokenOf(entry);
  }

  #tokenOf(entry: OpenEntry): OperationToken<Kind> {
    const { id: operationId, g: generation, k: kind } = entry.operation;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the brand is given here and nowhere else
    const token = Object.freeze({ operationId, generation, kind }) as OperationToken<Kind>;
    this.#tokens.set(token, entry.order);
    return token;
  }
}

function storedOperation(request: BeginRequest): StoredOperation {
  const { operationId: id, generation: g, kind: k, detail } = request;
  return { id, g, k, detail: storedJson(detail ?? {}) };
}
