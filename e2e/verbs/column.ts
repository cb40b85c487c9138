import { deepEqual } from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Running } from "../support/command.ts";
import type { Home } from "../support/home.ts";
import { type SessionRow, parseRow } from "../support/rows.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Answer, type Outcome, commandLine, isText, labelOf, newName, outcomeOf } from "./answers.ts";
import { type Cell, type ColumnName, type Verb, cellOf, verbs } from "./table.ts";

/** A group of verbs that was started. */
interface Begun {
  /** Those that have not answered. */
  readonly pending: () => Verb[];
  /** Waits for all and compares each with its cell. */
  readonly done: () => Promise<void>;
}

interface ColumnOptions {
  /** How rows call the state. */
  readonly shown?: string;
  /** False when the sessions have no first prompt to look at. */
  readonly seen?: boolean;
  /** What a group has made of its session, where asking takes too long. */
  readonly stateOf?: (session: SessionRow) => string;
}

/** Above the 30 s that a silent worker is waited for, and a start of a command. */
const ANSWER_MS = 45_000;

/** One column of the table: runs verbs against sessions in that state and compares what comes of it with the cells. */
export class Column {
  readonly #home: Home;
  readonly #name: ColumnName;
  readonly #options: Required<Pick<ColumnOptions, "shown" | "seen">> & Pick<ColumnOptions, "stateOf">;
  readonly #ran = new Set<Verb>();
  /** Per session, what was taken and has to run. */
  readonly #taken = new Map<string, Verb[]>();

  constructor(home: Home, name: ColumnName, options: ColumnOptions = {}) {
    this.#home = home;
    this.#name = name;
    this.#options = { shown: name, seen: true, ...options };
  }

  async run(session: SessionRow, ...group: Verb[]): Promise<void> {
    await this.begin(session, ...group).done();
  }

  /** Starts verbs side by side; all of a group lead to the same state. */
  begin(session: SessionRow, ...group: Verb[]): Begun {
    const running = group.map((verb) => ({ verb, command: this.#start(session, verb) }));
    return {
      pending: () => running.filter(({ command }) => !command.hasEnded()).map(({ verb }) => verb),
      done: async () => {
        const results = running.map(
          async ({ verb, command }) => [verb, outcomeOf(verb, await command.result(ANSWER_MS))] as const,
        );
        const found = await Promise.all(results);
        const state = await this.#stateAfter(
          session,
          found.map(([, { answer }]) => answer.state),
        );
        const expected = group.map((verb) => [verb, this.#expected(session, verb)] as const);
        deepEqual(Object.fromEntries(found), Object.fromEntries(expected), `of ${this.#name}`);
        const after = group.map((verb) => [verb, this.#after(verb)] as const);
        deepEqual(
          Object.fromEntries(group.map((verb) => [verb, state])),
          Object.fromEntries(after),
          `after it in ${this.#name}`,
        );
      },
    };
  }

  /** Waits until what was taken has run. A worker that is killed before has begun some of it, and begins none of it twice. */
  async hasRun(): Promise<void> {
    const enough = (): boolean =>
      [...this.#taken].every(([sessionId, taken]) => this.#runs(sessionId).length >= taken.length);
    await waitFor(enough, "all that was taken has run", 20_000);
  }

  /** Waits until what was taken has run, exactly once. Returns the verbs that were not tried. */
  async finish(): Promise<Verb[]> {
    await this.hasRun();
    const sessions = [...this.#taken.keys()];
    if (sessions.length > 0) await this.#home.ok(["session", "wait", ...sessions, "--timeout", "20s"]);
    const runs = sessions.map((sessionId) => this.#runs(sessionId));
    deepEqual(
      runs,
      [...this.#taken.values()].map((taken) => taken.toSorted()),
    );
    return verbs.filter((verb) => !this.#ran.has(verb));
  }

  /** Where each answer of the group says the state, it has been told. */
  async #stateAfter(session: SessionRow, answered: readonly unknown[]): Promise<unknown> {
    if (this.#options.stateOf) return this.#options.stateOf(session);
    const [first] = answered;
    return first !== undefined && answered.every((state) => state === first) ? first : await this.#ask(session);
  }

  async #ask({ sessionId }: SessionRow): Promise<string> {
    const { code, stdout } = await this.#home.agent(["session", "show", sessionId, "--json"]);
    return code === 4 ? "deleted" : labelOf(parseRow(stdout));
  }

  #runsPath(sessionId: string): string {
    return join(this.#home.files, `runs-${sessionId}`);
  }

  #runs(sessionId: string): string[] {
    const path = this.#runsPath(sessionId);
    return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1).toSorted() : [];
  }

  #start(session: SessionRow, verb: Verb): Running {
    const { sessionId } = session;
    this.#ran.add(verb);
    if (cellOf(verb, this.#name).status) this.#taken.set(sessionId, [...(this.#taken.get(sessionId) ?? []), verb]);
    return this.#home.start(commandLine(verb, { session, runsPath: this.#runsPath(sessionId) }));
  }

  #after(verb: Verb): string {
    return cellOf(verb, this.#name).after ?? this.#options.shown;
  }

  #expected(session: SessionRow, verb: Verb): Outcome {
    const cell = cellOf(verb, this.#name);
    const codes = cell.code === undefined ? [] : [cell.code];
    return { exit: cell.exit, codes, answer: cell.exit === 0 ? this.#answer(session, verb, cell) : {} };
  }

  #answer(session: SessionRow, verb: Verb, { status }: Cell): Answer {
    if (status) return { status };
    if (isText(verb)) return { seen: this.#options.seen };
    if (verb === "wait") return { matched: true };
    if (verb === "delete") return { sessionId: session.sessionId };
    const state = this.#after(verb);
    return verb === "rename" ? { state, name: newName(session) } : { state };
  }
}
