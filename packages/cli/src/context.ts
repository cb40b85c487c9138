import type { Client, OwnerLiveness } from "@holdfast/client";
import { ProtocolError, VERSION } from "@holdfast/client/protocol";
import type { OwnerRecord } from "@holdfast/client/protocol";
import type { Io } from "./io.ts";
import { selector } from "./inputs.ts";
import { OutputClosed } from "./io.ts";
import { shellWord } from "./shell-word.ts";

/** The options that every command takes, before or after its name. */
export interface CommonOptions {
  /** Absolute. */
  readonly home: string;
  /** What `--home` said; `null` without it. */
  readonly givenHome: string | null;
  readonly json: boolean;
  readonly autostart: boolean;
  readonly requestId: string | null;
}

/** `agent` as the beginning of a command: not the noun, as in "the agent said". */
const COMMAND = /\bagent (?=(?:session|ps|daemon|doctor|journal|trust|new|ls|attach|prompt|stop|logs|wait)\b)/g;

/** What one command runs with. */
export class Context {
  readonly io: Io;
  readonly options: CommonOptions;
  requestId: string | null;
  /** What the command line calls its session, for hints. */
  session: string | null = null;
  /** Why no daemon could be started for a read: this command does not try it again. */
  startProblem: string | null = null;
  #client: Client | null = null;

  constructor(io: Io, options: CommonOptions) {
    this.io = io;
    this.options = options;
    this.requestId = options.requestId;
  }

  /** The session that is meant; the daemon resolves it. */
  select(given: string): string {
    this.session = selector(given);
    return given;
  }

  /** Connects at its first call. Starts a daemon for mutations, unless that was forbidden. */
  async client(): Promise<Client> {
    this.#client ??= await this.#connect(this.options.autostart);
    return this.#client;
  }

  /** For what must not bring a daemon to life: stopping it, asking about it. */
  async clientWithoutStart(): Promise<Client> {
    this.#client ??= await this.#connect(false);
    return this.#client;
  }

  async startDaemon(): Promise<void> {
    const { startDaemon } = await import("./start-daemon.ts");
    await this.say(`starting the daemon for ${this.options.home}`);
    await startDaemon(this.options.home, this.io.env);
  }

  /** The id of this mutation: given, or made at its first use. `part` tells a command's second request from its first. */
  async mutationId(part?: string): Promise<string> {
    const { systemIds } = await import("@holdfast/shared-process");
    this.requestId ??= systemIds.newId();
    return part === undefined ? this.requestId : `${this.requestId}.${part}`;
  }

  /** Commands in a text, as they must be typed to mean the same home. */
  typed(text: string): string {
    const { givenHome } = this.options;
    return givenHome === null ? text : text.replace(COMMAND, `agent --home ${shellWord(givenHome)} `);
  }

  /** One line on standard error. */
  async say(text: string): Promise<void> {
    await this.io.stderr.write(`${this.typed(text)}\n`).catch((error: unknown) => {
      // Nobody reads our messages any more; the command itself goes on.
      if (!(error instanceof OutputClosed)) throw error;
    });
  }

  /** One line on standard error, for people alone. */
  async notice(text: string): Promise<void> {
    if (this.io.stderr.isTTY) await this.say(text);
  }

  async print(text: string): Promise<void> {
    await this.io.stdout.write(`${text}\n`);
  }

  /** A whole answer, or its readable form. */
  async answer(value: object, readable: () => string): Promise<void> {
    await this.print(this.options.json ? JSON.stringify({ schemaVersion: 1, ...value }) : readable());
  }

  close(): void {
    this.#client?.close();
    this.#client = null;
  }

  async #connect(autostart: boolean): Promise<Client> {
    const { createClient } = await import("@holdfast/client");
    return createClient({
      home: this.options.home,
      name: "agent",
      ownerAlive: (record) => ownerAlive(this.options.home, record),
      onNotice: (text) => void this.say(text),
      // Run from its sources it has none, and the daemon that it starts is a built one.
      ...(VERSION.endsWith("-source") ? {} : { version: VERSION }),
      ...(autostart ? { startDaemon: () => this.startDaemon() } : {}),
    });
  }
}

async function ownerAlive(home: string, record: OwnerRecord): Promise<OwnerLiveness> {
  const { ownerState } = await import("@holdfast/daemon-supervisor/offline");
  const state = ownerState(home);
  // A damaged record above this one, and no process that could be its owner: nobody owns the home.
  if (state.kind === "none") return "gone";
  // Waiting would not help, and nothing of such a home is acted upon (I163).
  if (state.kind === "unknown" && state.isElsewhere)
    throw new ProtocolError("daemon_not_running", `no daemon runs here for ${home}: ${state.why}`, {
      hint: "use agent on that machine",
    });
  // Another owner was recorded meanwhile: nothing is known of this one, and the next look finds the other.
  if (state.record?.epoch !== record.epoch) return "unknown";
  // It stopped on purpose since its record was read: the next look says so, and what is stopped is not succeeded as a dead one is.
  return state.kind === "stopped" ? "unknown" : state.kind;
}
