import type { MethodResults } from "@holdfast/client/protocol";
import { openJournal, readJournal } from "@holdfast/recovery-journal";
import type { Journal, JsonObject, OpenJournalResult, RememberedRequest } from "@holdfast/recovery-journal";
import { CodedError, reasonOf } from "@holdfast/shared-process";
import { requestHash } from "@holdfast/session-worker/transport";
import { saysDiskFull } from "../disk.ts";
import type { Context } from "../effects/context.ts";
import { damagedRequestsFolder, requestsFolder } from "../home.ts";
import { putLast } from "../put-last.ts";
import type { Records } from "../records.ts";
import type { RequestStamp } from "../registry-ports.ts";
import { keptOf, plain, sessionOf } from "./kept.ts";
import type { Kept } from "./kept.ts";
import { movedAside, reusedRequest } from "./reused-request.ts";
import type { Submissions } from "./submissions.ts";

export interface Order {
  readonly method: string;
  readonly requestId: string;
  /** What makes two requests the same. Values that must not be stored are left out (I152). */
  readonly content: object;
}

/** What a request answers. */
export interface Answered<R> {
  readonly answer: R;
  /** What it asked for is over, so that every repeat gets this very answer. */
  readonly final: boolean;
  /** Runs once the answer is remembered. */
  readonly after?: (isDurable: boolean) => void;
}

/** `repeated`: the effect is durable already, and only its answer is asked for. `sessionId` names where it took effect. */
export type Work<R> = (stamp: RequestStamp, repeated: { readonly sessionId: string } | null) => Promise<Answered<R>>;

type Trace = Omit<Kept, "answer"> & { readonly answer: object | null };

/** What the home's journal has no room for, or does not take. */
const MAX_KEPT = 10_000;

interface RequestsContext extends Pick<Context, "catalog" | "home" | "fs" | "ids" | "self" | "clock" | "log"> {
  readonly records: Pick<Records, "settle">;
}

/**
 * Requests that take effect in the supervisor, each at most once (I143):
 *
 *     effect and request in one file (session.json) ──▶ answer in `<home>/journal` ──▶ reply
 *
 * A crash before the first leaves nothing; between the two, the next supervisor finds the request beside its effect and only answers.
 */
export class Requests {
  readonly #context: RequestsContext;
  readonly #isOwner: () => boolean;
  readonly #submissions: Pick<Submissions, "has">;
  readonly #running = new Map<string, { readonly hash: string; readonly answer: Promise<object> }>();
  /** Found beside their effects, or not taken by the journal. */
  readonly #kept = new Map<string, Kept>();
  #begun: Promise<void> = Promise.resolve();
  #opening: Promise<Journal<never> | null> | null = null;

  constructor(context: RequestsContext, isOwner: () => boolean, submissions: Pick<Submissions, "has">) {
    this.#context = context;
    this.#isOwner = isOwner;
    this.#submissions = submissions;
    for (const { sessionId, recentRequests = [] } of context.catalog.all())
      for (const { requestId, hash } of recentRequests) this.#kept.set(requestId, { hash, sessionId, answer: null });
  }

  /** The first answer for every repeat; `work` runs once, or joins what runs. */
  once<R extends object>(order: Order, work: Work<R>): Promise<R> {
    const hash = requestHash(order.method, order.content);
    return this.join(order.requestId, hash, () => this.#once(order, hash, work));
  }

  /** Runs `work`, or joins what runs under the id. Rejects `request_id_reused` where that, or a prompt of late, is something else. */
  join<R extends object>(requestId: string, hash: string, work: () => Promise<R>): Promise<R> {
    const running = this.#running.get(requestId);
    const isOther = running ? running.hash !== hash : this.#submissions.has(requestId);
    if (isOther) return Promise.reject(reusedRequest(requestId));
    const answer = running?.answer ?? work().finally(() => this.#running.delete(requestId));
    if (!running) this.#running.set(requestId, { hash, answer });
    // Under one id and hash there is one method, and so one kind of answer.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return answer as Promise<R>;
  }

  isRunning(requestId: string): boolean {
    return this.#running.has(requestId);
  }

  async #once<R extends object>({ requestId, method }: Order, hash: string, work: Work<R>): Promise<R> {
    if (this.#context.catalog.createdBy(requestId)) throw reusedRequest(requestId);
    const known = await this.find(requestId).catch((error: unknown) => {
      // Whether it was asked before cannot be told: only what is right in any case, a stop, goes on.
      if (method !== "session/stop") throw error;
      return null;
    });
    if (known && known.hash !== hash) throw reusedRequest(requestId);
    // What the method answered, and nothing else has its hash.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    if (known?.answer) return known.answer as object as R;
    const repeated = known?.sessionId ? { sessionId: known.sessionId } : null;
    const made = work({ requestId, hash }, repeated).then((answered) => this.#proven(answered));
    const { answer, final, after } = await made.catch((error: unknown) => {
      // It took effect and its answer is an error, such as a time that was over: a repeat must not take effect again.
      const sessionId = this.#effectOf(requestId);
      if (sessionId !== null) this.#keep(requestId, { hash, sessionId, answer: null });
      throw error;
    });
    const sessionId = sessionOf(answer);
    const isDurable = await this.remember(requestId, { hash, sessionId, answer: final ? answer : null });
    after?.(isDurable);
    return answer;
  }

  /** What is told as over is durable, also where nothing was left to write: an earlier write may have failed on its last step. */
  async #proven<R extends object>(answered: Answered<R>): Promise<Answered<R>> {
    const sessionId = answered.final ? sessionOf(answered.answer) : null;
    if (sessionId !== null) await this.#context.records.settle(sessionId);
    return answered;
  }

  /** The session whose record names the request beside its effect. */
  #effectOf(requestId: string): string | null {
    for (const { sessionId, recentRequests = [] } of this.#context.catalog.all())
      if (recentRequests.some((request) => request.requestId === requestId)) return sessionId;
    return null;
  }

  #keep(requestId: string, kept: Kept): void {
    putLast(this.#kept, [requestId, kept], MAX_KEPT);
  }

  /** The answer to the creation of a session that was deleted since, or moved aside, which throws: it is not created again. */
  async created(requestId: string, hash: string): Promise<MethodResults["session/new"] | null> {
    const known = (await this.isUsed(requestId)) ? await this.find(requestId) : null;
    if (known && known.hash !== hash) throw reusedRequest(requestId);
    if (known?.sessionId && !known.answer) throw movedAside(known.sessionId);
    // Remembered by the deletion, as a row.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return known?.answer ? (known.answer as unknown as MethodResults["session/new"]) : null;
  }

  /** Whether an effect under the id is known. The journal is opened when something must be remembered; without it there is nothing. */
  async isUsed(requestId: string): Promise<boolean> {
    const { fs, home } = this.#context;
    if (this.#kept.has(requestId)) return true;
    return (this.#opening !== null || fs.exists(requestsFolder(home))) && (await this.find(requestId)) !== null;
  }

  /** What a start finishes first: nothing is looked up before it is over. */
  begin(work: Promise<void>): void {
    this.#begun = work;
  }

  async find(requestId: string): Promise<Kept | null> {
    await this.#begun;
    const kept = this.#kept.get(requestId);
    if (kept?.answer) return kept;
    // A record may still name what was answered: the name goes with its next write, which a crash can prevent.
    const journal = await this.#journal();
    const found = journal ? journal.remembered(requestId) : this.#read(requestId);
    return found?.outcome ? keptOf(found.hash, found.outcome) : (kept ?? null);
  }

  /** A full disk keeps the journal from being opened, not from being read. */
  #read(requestId: string): RememberedRequest | null {
    const { home, fs } = this.#context;
    const report = readJournal(requestsFolder(home), [], fs);
    if (report.kind === "refused") throw new CodedError("journal_refused", `${report.path}: ${report.message}`);
    return (report.kind === "ok" && report.remembered.find((request) => request.requestId === requestId)) || null;
  }

  /** True when it is durable. Where the disk refuses this supervisor remembers it; its effect stands in any case. */
  async remember(requestId: string, { hash, sessionId, answer: given }: Trace): Promise<boolean> {
    const answer = given && plain(given);
    const kept = { hash, sessionId, answer };
    const opening = this.#journal();
    const journal = await opening.catch(() => {
      // Said where it was looked up; here the effect stands already.
      return null;
    });
    if (!journal) {
      this.#keep(requestId, kept);
      return false;
    }
    try {
      await journal.remember({ requestId, hash, outcome: { sessionId, answer } });
    } catch (error) {
      this.#keep(requestId, kept);
      this.#context.log.warn({ requestId, reason: reasonOf(error) }, "not remembered on disk");
      // A journal that a failed flush has poisoned takes nothing more: the next segment does. A fenced one is another owner's.
      if (journal.state === "poisoned" && this.#opening === opening) this.#opening = null;
      return false;
    }
    this.#kept.delete(requestId);
    if (sessionId !== null) this.#context.catalog.forgetRequest(sessionId, requestId);
    return true;
  }

  /** As `remember`, of one that may have been answered since: its first answer stays. A record names it until its next write. */
  async rememberTrace(requestId: string, trace: Trace): Promise<boolean> {
    const journal = await this.#journal().catch(() => null);
    const outcome = journal?.remembered(requestId)?.outcome;
    return outcome && keptOf(trace.hash, outcome).answer !== null ? true : await this.remember(requestId, trace);
  }

  /** Says, durably, what a person decided about the quarantines of the home's journal; how many there were. */
  async resolveQuarantines(resolution: JsonObject): Promise<number> {
    const opened = await this.#openJournal();
    if (opened.kind !== "opened") throw new CodedError("journal_refused", "the journal of requests cannot be opened");
    const quarantines = opened.journal.quarantines();
    try {
      for (const { id } of quarantines) await opened.journal.resolveQuarantine(id, resolution);
    } finally {
      await opened.journal.close();
      // Whoever had it open is fenced by this: the next request opens it anew.
      this.#opening = null;
    }
    return quarantines.length;
  }

  async close(): Promise<void> {
    await (await this.#opening?.catch(() => null))?.close();
  }

  #journal(): Promise<Journal<never> | null> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /**
   * A damaged journal is kept beside a new one (I71, I140): what it remembered is lost, and the log says so. Of one in quarantine
   * a person decides: until then nobody knows what was asked before (I143).
   */
  async #open(): Promise<Journal<never> | null> {
    // Whoever lost the home must not take the journal from its new owner.
    if (!this.#isOwner()) return null;
    try {
      const opened = await this.#openJournal();
      if (opened.kind === "opened") {
        const [quarantine] = opened.journal.quarantines();
        if (quarantine === undefined) return opened.journal;
        await opened.journal.close();
        const where = requestsFolder(this.#context.home);
        throw new CodedError("journal_refused", `${where}: quarantine ${quarantine.id} is not resolved`);
      }
      // What cannot be read, or not by this version, is not known to be damaged.
      if (opened.kind === "refused" && opened.why !== "corrupt" && opened.why !== "oversize")
        throw new CodedError("journal_refused", `${opened.path}: ${opened.message}`);
      this.#setAside(opened);
      const again = await this.#openJournal();
      if (again.kind === "opened") return again.journal;
      throw new CodedError("journal_refused", "the journal of requests cannot be used");
    } catch (error) {
      this.#opening = null;
      // On a full disk what is asked for goes on, remembered beside its effect and in memory.
      if (saysDiskFull(error)) return null;
      throw error;
    }
  }

  #openJournal(): Promise<OpenJournalResult<never>> {
    const { home, fs, ids, self, clock } = this.#context;
    return openJournal<never>({
      directory: requestsFolder(home),
      owner: { generation: ids.newGeneration(), identity: { ...self } },
      kinds: [],
      // Asked for by the owner of the home alone, who has proven that no other supervisor lives.
      probeOwner: () => "gone",
      engine: "pool",
      fs,
      clock,
      now: () => clock.now(),
    });
  }

  #setAside(refused: object): void {
    const { home, fs, clock, log } = this.#context;
    const aside = damagedRequestsFolder(home, clock.now());
    fs.rename(requestsFolder(home), aside);
    log.error({ refused, aside }, "the journal of requests is damaged: older requests are not remembered");
  }
}
