import { connect } from "node:net";
import { SimulatedDisk } from "@holdfast/recovery-journal/testing";
import { createObserver, systemIds } from "@holdfast/shared-process";
import { FakeClock, FakeProcessTable } from "@holdfast/shared-process/testing";
import { openSessionStore, sessionDirectory } from "@holdfast/session-worker/transport";
import type { SessionRecord, SessionStore } from "@holdfast/session-worker/transport";
import { pino } from "pino";
import { Catalog } from "./catalog.ts";
import { newCounters } from "./counters.ts";
import { Changes } from "./changes.ts";
import { Channels } from "./effects/channels.ts";
import type { Context } from "./effects/context.ts";
import { freshValues } from "./effects/context.ts";
import { Ender } from "./effects/end.ts";
import { Stores } from "./effects/stores.ts";
import { SystemTrees } from "./effects/trees.ts";
import type { Trees } from "./effects/trees.ts";
import { Watcher } from "./effects/watch.ts";
import { Lanes } from "./lanes.ts";
import { answeredEffect } from "./lifecycle/answers.ts";
import type { Answer, Stamp } from "./lifecycle/answers.ts";
import { processOf } from "./lifecycle/samples.testing.ts";
import type { Effect, Fresh, State, WorkerProcess } from "./lifecycle/state.ts";
import { Records } from "./records.ts";
import { Registry } from "./registry.ts";
import { Names } from "./server/names.ts";
import { Requests } from "./server/requests.ts";
import type { Services } from "./server/services.ts";
import { Submissions } from "./server/submissions.ts";
import { Sessions } from "./sessions.ts";
import { Trust } from "./trust.ts";
import { sessionRecordOf } from "./session-record.testing.ts";

export const SESSION = "01a2aaaa-0000-7000-8000-000000000001";
export const HOME = "/home";

/** The registry, records, stores and finalizer of the product over a disk, processes and a clock of the test's. */
export class World {
  readonly disk = new SimulatedDisk();
  readonly clock = new FakeClock();
  readonly table = new FakeProcessTable();
  readonly problems: string[] = [];
  readonly effects: Effect[] = [];
  readonly context: Context;
  readonly stores: Stores;
  readonly ender: Ender;
  readonly records: Records;
  readonly collected: Trees;
  readonly watcher: Watcher;
  readonly channels: Channels;

  private constructor() {
    const { disk, clock, table } = this;
    for (const folder of ["", "/sessions", "/workers", "/run", "/logs", "/owner"])
      disk.mkdir(`${HOME}${folder}`, 0o700);
    const observer = createObserver({ mode: "narrow", ports: table, clock });
    const catalog = new Catalog(HOME, disk);
    this.records = new Records({ home: HOME, fs: disk, clock, catalog, epoch: 3, isOwner: () => true });
    const registry: Registry = new Registry({
      clock,
      persist: (sessionId, next) => this.records.persist(sessionId, next),
      run: (stamp, effect) => this.#run(stamp, effect),
      fresh: (sessionId) => freshValues(this.context, sessionId),
      onPublished: () => undefined,
      onProblem: (_sessionId, message) => void this.problems.push(message),
      onDecision: () => undefined,
    });
    this.context = {
      home: HOME,
      workerProgram: "",
      supervisorProgram: null,
      epoch: 3,
      self: processOf("self").identity,
      fs: disk,
      clock,
      ids: systemIds,
      observer,
      ports: table,
      catalog,
      counters: newCounters(),
      log: pino({ level: "silent" }),
      secrets: new Map(),
      registry,
      onOwnershipLost: () => undefined,
    };
    this.stores = new Stores(this.context);
    this.collected = new SystemTrees(this.context);
    this.ender = new Ender(this.context, this.stores, this.collected);
    this.watcher = new Watcher(this.context, { handleOf: () => null }, this.collected);
    this.channels = new Channels(this.context, {
      watcher: this.watcher,
      dial: (path) => connect(path),
      onReport: () => undefined,
    });
  }

  /** What request handlers work with. */
  services(): Services {
    const { context, channels, stores, ender, records } = this;
    const submissions = new Submissions();
    return {
      context,
      channels,
      stores,
      ender,
      records,
      sessions: new Sessions(context, channels),
      requests: new Requests({ ...context, records }, () => true, submissions),
      names: new Names(context.catalog),
      submissions,
      changes: new Changes(context.clock),
      trust: new Trust({ ...context }),
      lanes: new Lanes(),
      shutdown: () => undefined,
      socketPath: () => null,
      status: () => "current",
    };
  }

  /** With one session, whose worker of generation `g` has gone. */
  static async create(more: Partial<SessionRecord> = {}): Promise<World> {
    const world = new World();
    world.disk.mkdir(sessionDirectory(HOME, SESSION), 0o700);
    await world.context.catalog.create(sessionRecordOf(SESSION, more));
    return world;
  }

  get registry(): Registry {
    return this.context.registry;
  }

  /** The session's worker: nothing of it runs, and nothing carries its marker. */
  worker(generation = "g"): WorkerProcess {
    const marker = systemIds.newToken(18);
    return { ...processOf(generation), marker, socketPath: `${HOME}/run/${generation}.sock` };
  }

  fresh(): Fresh {
    return freshValues(this.context, SESSION);
  }

  enroll(state: State, ...effects: Effect[]): void {
    this.registry.enroll(SESSION, state, effects);
  }

  state(): State | null {
    return this.registry.newest(SESSION);
  }

  /** The session's files, as a worker of this generation opens them. */
  async open(generation: string): Promise<SessionStore> {
    const opened = await openSessionStore({
      directory: sessionDirectory(HOME, SESSION),
      sessionId: SESSION,
      owner: { generation, identity: {} },
      probeOwner: () => "gone",
      engine: "inline",
      fs: this.disk,
    });
    if (opened.kind !== "opened") throw new Error(JSON.stringify(opened));
    return opened.store;
  }

  /** Admits prompts as a worker does that dies then. */
  async admit(...requestIds: string[]): Promise<void> {
    const store = await this.open("g");
    for (const requestId of requestIds) await store.admit({ requestId, hash: "h", kind: "prompt", text: requestId });
    await store.close();
  }

  /** Paths of all files below a directory. */
  files(directory = HOME): string[] {
    return this.disk.readdir(directory).flatMap((name) => {
      const path = `${directory}/${name}`;
      return this.disk.lstat(path).isDirectory() ? this.files(path) : [path];
    });
  }

  transcript(): { readonly type: string; readonly state?: string }[] {
    const path = `${sessionDirectory(HOME, SESSION)}/transcript.jsonl`;
    if (!this.disk.exists(path)) return [];
    const lines = this.disk.contentOf(path).toString("utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  }

  /** One turn of whatever waits for its turn, and a moment for what waits for time. */
  async turn(): Promise<void> {
    await Promise.resolve();
    this.clock.advance(1);
  }

  async turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) await this.turn();
  }

  /** As many turns as it takes. */
  async until(isOver: () => boolean): Promise<void> {
    for (let turn = 0; !isOver(); turn += 1) {
      if (turn > TURNS) throw new Error(`it stays ${this.state()?.name ?? "absent"}: ${this.problems.join("; ")}`);
      await this.turn();
    }
  }

  readonly #stamps = new Map<Effect["type"], Stamp>();

  /** What comes of the last effect of its kind that ran. */
  answer(event: Answer): string {
    const stamp = this.#stamps.get(answeredEffect[event.type]);
    if (!stamp) throw new Error(`nothing asked for ${event.type}`);
    return this.registry.answer(stamp, event).kind;
  }

  #run(stamp: Stamp, effect: Effect): void {
    this.effects.push(effect);
    this.#stamps.set(effect.type, stamp);
    if (effect.type === "finalize") void this.ender.finalize(stamp, effect.process, effect.intent);
    if (effect.type === "settle") void this.ender.settle(stamp, effect.process);
  }
}

const TURNS = 200_000;
