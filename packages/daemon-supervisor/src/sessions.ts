import type { SessionRow } from "@holdfast/client/protocol";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import type { Channels } from "./effects/channels.ts";
import type { Context } from "./effects/context.ts";
import type { State } from "./lifecycle/state.ts";
import { newestFirst, pageOfIds } from "./page.ts";
import type { PageRequest } from "./page.ts";
import { damagedRow, rowOf } from "./rows.ts";
import { sessionQuarantined } from "./quarantined.ts";
import { select } from "./select.ts";
import { verdictOf, whyUnknown } from "@holdfast/session-worker/transport";

/** Sessions as clients name and see them: selectors in, rows out. */
export class Sessions {
  readonly #context: Context;
  readonly #channels: Channels;

  constructor(context: Context, channels: Channels) {
    this.#context = context;
    this.#channels = channels;
  }

  select(selector: string): string {
    const { catalog } = this.#context;
    if (catalog.summary(selector)) return selector;
    const known = [...catalog.all()].map(({ sessionId, name, wanted }) => ({
      sessionId,
      name,
      archived: wanted === "archived",
    }));
    const damaged = this.#damaged().map((sessionId) => ({ sessionId, name: null, archived: false }));
    return select(selector, [...known, ...damaged]);
  }

  /** A session that verbs may act on; quarantined ones are refused. */
  actionable(selector: string): SessionRecord {
    const sessionId = this.select(selector);
    const { catalog } = this.#context;
    // Reading the record may show that it is damaged.
    const record = catalog.get(sessionId);
    const why = catalog.quarantined.get(sessionId);
    if (why !== undefined || !record) throw sessionQuarantined(sessionId, why ?? "its record is gone");
    return record;
  }

  row(sessionId: string): SessionRow {
    const { catalog } = this.#context;
    const record = catalog.summary(sessionId);
    const quarantine = catalog.quarantined.get(sessionId) ?? null;
    if (!record) return damagedRow(sessionId, quarantine ?? "its record is gone");
    const state = this.#context.registry.published(sessionId);
    return rowOf({
      record,
      state,
      report: this.#channels.report(sessionId),
      quarantine,
      now: this.#context.clock.monotonic(),
      problem: this.#context.registry.problem(sessionId),
      unreached: this.#whyUnreached(state),
    });
  }

  /** Of a worker that is waited for and does not come: it cannot be spoken to, or cannot be told from others (I134, I163). */
  #whyUnreached(state: State | null): string | null {
    if (state?.name !== "reconnecting" && state?.name !== "stopping") return null;
    const { process } = state;
    if (process === null) return null;
    const verdict = verdictOf(this.#context.observer, process);
    return verdict.kind === "unknown" ? whyUnknown(verdict.why) : this.#channels.mismatch(process);
  }

  /** The row of a session that a verb has just worked on. Throws `session_not_found` for one that was deleted meanwhile. */
  present(sessionId: string): SessionRow {
    return this.row(this.select(sessionId));
  }

  rows(): SessionRow[] {
    return [...this.#ids()].map((sessionId) => this.row(sessionId));
  }

  /** Only the rows of the page are made. */
  page(request: PageRequest): { sessions: SessionRow[]; nextCursor?: string } {
    const { catalog, registry } = this.#context;
    const isArchived = (sessionId: string): boolean =>
      catalog.summary(sessionId)?.wanted === "archived" && registry.published(sessionId) === null;
    const damaged = this.#damaged();
    const ids = damaged.length > 0 ? newestFirst(this.#ids()) : catalog.newestFirst();
    const { sessionIds, ...page } = pageOfIds(ids, request, isArchived);
    return { sessions: sessionIds.map((sessionId) => this.row(sessionId)), ...page };
  }

  *#ids(): Generator<string> {
    for (const { sessionId } of this.#context.catalog.all()) yield sessionId;
    yield* this.#damaged();
  }

  #damaged(): readonly string[] {
    const { catalog } = this.#context;
    return [...catalog.quarantined.keys()].filter((sessionId) => !catalog.summary(sessionId));
  }
}
