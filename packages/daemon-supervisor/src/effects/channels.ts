import type { Duplex } from "node:stream";
import { ConnectionLost, Peer, ProtocolError } from "@holdfast/client/protocol";
import { reasonOf } from "@holdfast/shared-process";
import {
  WORKER_PROTOCOL_VERSION,
  closingSchema,
  helloSchema,
  reportSchema,
  sessionDirectory,
  startResultSchema,
  stopAnswerSchema,
} from "@holdfast/session-worker/transport";
import type { Authenticate, WorkerHello, WorkerReport } from "@holdfast/session-worker/transport";
import type { Stamp } from "../lifecycle/answers.ts";
import type { StopIntent, WorkerProcess } from "../lifecycle/state.ts";
import { awaitsProcess } from "../lifecycle/reduce.ts";
import { mismatchOf, unspoken } from "../mismatch.ts";
import type { Context } from "./context.ts";
import { freshValues, secretsOf } from "./context.ts";
import { abortAfter } from "./abort-after.ts";
import type { Watcher } from "./watch.ts";

interface Channel {
  readonly generation: string;
  readonly peer: Peer;
  phase: "blank" | "serving";
  report: WorkerReport;
  /** Why it last refused to be passivated. */
  refusal: string | null;
}

const FIRST_RETRY_MS = 4;
const LAST_RETRY_MS = 500;
/** The next look comes after a tenth of the time waited so far, so that a worker is met at most so much after it listens. */
const RETRY_SHARE = 0.1;
/** One attempt; a worker that is merely slow is asked again, for as long as it takes. */
const AUTHENTICATE_MS = 2_000;

/** Opens the byte stream of a worker's socket; whatever goes wrong ends the stream. */
export type Dial = (path: string) => Duplex;

interface ChannelParts {
  readonly watcher: Watcher;
  readonly dial: Dial;
  readonly onReport: (sessionId: string, report: WorkerReport) => void;
}
type Greeting = Extract<WorkerHello, { kind: "hello" }>;
type Opened =
  | { readonly kind: "opened"; readonly peer: Peer; readonly hello: Greeting }
  /** It does not answer, or not yet. */
  | { readonly kind: "silent" }
  /** It answered, in words that are not ours, or that it will not have this supervisor: a later try would get the same. */
  | { readonly kind: "unspoken"; readonly reason: string };

/** The authenticated control channels to workers: one per session at most. */
export class Channels {
  readonly #context: Context;
  readonly #watcher: Watcher;
  readonly #dial: Dial;
  readonly #onReport: (sessionId: string, report: WorkerReport) => void;
  readonly #channels = new Map<string, Channel>();
  readonly #connecting = new Set<string>();
  /** Why workers that live cannot be spoken to, by generation. */
  readonly #unspoken = new Map<string, string>();

  constructor(context: Context, { watcher, dial, onReport }: ChannelParts) {
    this.#context = context;
    this.#watcher = watcher;
    this.#dial = dial;
    this.#onReport = onReport;
  }

  report(sessionId: string): WorkerReport | null {
    return this.#channels.get(sessionId)?.report ?? null;
  }

  refusal(sessionId: string): string | null {
    return this.#channels.get(sessionId)?.refusal ?? null;
  }

  peer(sessionId: string): Peer | null {
    return this.#channels.get(sessionId)?.peer ?? null;
  }

  /** Why this worker, which may well live, cannot be spoken to; `null` where nothing is known against it. */
  mismatch(process: WorkerProcess): string | null {
    return mismatchOf(process) ?? this.#unspoken.get(process.generation) ?? null;
  }

  /**
   * Connects and authenticates until it works, is refused or the state no longer wants it. Any other trouble may pass: a worker is
   * asked again for as long as it takes. A refusal would be the same each time, so that only its end is awaited then (I102).
   */
  async connect(sessionId: string, process: WorkerProcess): Promise<void> {
    const { generation } = process;
    const live = this.#of(sessionId, generation);
    if (live && !live.peer.closed) {
      const fresh = freshValues(this.#context, sessionId);
      this.#context.registry.dispatch(sessionId, { type: "hello", generation, phase: live.phase, fresh });
      return;
    }
    if (this.#connecting.has(generation)) return;
    this.#connecting.add(generation);
    try {
      const { clock } = this.#context;
      const since = clock.monotonic();
      while (this.#isAwaited(sessionId, generation)) {
        // It stays listed until it ends or is stopped (DESIGN §9), and its end is told as any other's. One of our own is asked whatever
        // protocol its record names: its refusal also says which epoch it knows (I165).
        if (process.protocol === null || this.#unspoken.has(generation)) return this.#watcher.watch(sessionId, process);
        const attempt = await this.#attempt(sessionId, process);
        if (attempt === "opened") return;
        if (attempt === "unspoken") continue;
        this.#watcher.look(sessionId, process);
        const waited = clock.monotonic() - since;
        await this.#pause(Math.min(LAST_RETRY_MS, Math.max(FIRST_RETRY_MS, waited * RETRY_SHARE)));
      }
    } finally {
      this.#connecting.delete(generation);
    }
  }

  async startWorker(stamp: Stamp, process: WorkerProcess): Promise<void> {
    const { sessionId } = stamp;
    const { registry, catalog } = this.#context;
    const { generation } = process;
    const channel = this.#of(sessionId, generation);
    const record = catalog.get(sessionId);
    if (!channel || !record) return;
    try {
      const environment = { ...record.environment, ...secretsOf(this.#context, sessionId) };
      const restored = this.#context.fs.exists(`${sessionDirectory(this.#context.home, sessionId)}/transcript.jsonl`);
      const answer = startResultSchema.parse(await channel.peer.request("worker/start", { environment, restored }));
      if (answer.kind === "serving") {
        channel.report = answer.report;
        channel.phase = "serving";
        registry.answer(stamp, { type: "serving", generation });
      } else {
        const { terminal, reason } = answer;
        registry.answer(stamp, { type: "start_failed", generation, terminal, reason });
      }
    } catch (error) {
      // A lost channel says so by itself and leads to a new hello.
      if (error instanceof ConnectionLost) return;
      registry.answer(stamp, { type: "start_failed", generation, terminal: false, reason: reasonOf(error) });
    }
  }

  async askStop(stamp: Stamp, process: WorkerProcess, intent: StopIntent): Promise<void> {
    const { sessionId } = stamp;
    const { registry } = this.#context;
    const channel = this.#of(sessionId, process.generation);
    if (!channel) return;
    const { stopId, goal, force } = intent;
    try {
      const answer = stopAnswerSchema.parse(await channel.peer.request("worker/stop", { stopId, goal, force }));
      if (answer.kind === "busy") {
        channel.refusal = answer.why;
        registry.answer(stamp, { type: "busy", stopId, why: answer.why });
      } else registry.answer(stamp, { type: "acknowledged", stopId, graceMs: answer.graceMs });
    } catch (error) {
      // No answer counts as silence: the timer that is already running decides.
      this.#context.log.info({ sessionId, stopId, reason: reasonOf(error) }, "a stop was not acknowledged");
    }
  }

  closeAll(): void {
    for (const { peer } of this.#channels.values()) peer.destroy();
  }

  /** What proves to a worker who is asking, and by which epoch. */
  credentials(sessionId: string, process: WorkerProcess, purpose: Authenticate["purpose"]): Authenticate {
    const { supervisorProgram: supervisor, workerProgram: worker } = this.#context;
    return {
      protocol: WORKER_PROTOCOL_VERSION,
      token: process.token,
      sessionId,
      generation: process.generation,
      epoch: this.#context.epoch,
      supervisor: this.#context.self,
      purpose,
      ...(supervisor === null ? {} : { programs: { supervisor, worker } }),
    };
  }

  async #open(
    sessionId: string,
    process: WorkerProcess,
    onNotification: (method: string, params: unknown) => void,
  ): Promise<Opened> {
    const peer = new Peer(this.#dial(process.socketPath), { onNotification });
    const parameters = this.credentials(sessionId, process, "control");
    const { signal, timer } = abortAfter(this.#context.clock, AUTHENTICATE_MS);
    try {
      const answer = helloSchema.safeParse(await peer.request("authenticate", parameters, { signal }));
      const hello = answer.success ? answer.data : null;
      if (hello?.kind === "hello") return { kind: "opened", peer, hello };
      peer.destroy();
      if (hello === null) return { kind: "unspoken", reason: unspoken.form };
      this.#context.log.warn({ sessionId, why: hello.why }, "a worker refused this supervisor");
      if (hello.why === "protocol") return { kind: "unspoken", reason: unspoken.version(hello.protocol ?? null) };
      if (hello.why === "stale_epoch") this.#context.onOwnershipLost(hello.epoch);
      return { kind: "unspoken", reason: unspoken.refused(hello.why) };
    } catch (error) {
      peer.destroy();
      if (error instanceof ProtocolError && error.code === "usage") return { kind: "unspoken", reason: unspoken.form };
      this.#context.log.debug({ sessionId, reason: reasonOf(error) }, "a worker does not answer yet");
    } finally {
      timer[Symbol.dispose]();
    }
    return { kind: "silent" };
  }

  async #attempt(sessionId: string, process: WorkerProcess): Promise<Opened["kind"]> {
    const { registry } = this.#context;
    const { generation } = process;
    const opened = await this.#open(sessionId, process, (method, params) =>
      this.#receive(sessionId, generation, { method, params }),
    );
    if (opened.kind === "unspoken") this.#unspoken.set(generation, opened.reason);
    if (opened.kind !== "opened") return opened.kind;
    if (opened.peer.closed || !this.#isAwaited(sessionId, generation)) {
      opened.peer.destroy();
      return "silent";
    }
    const { phase, report } = opened.hello;
    const channel: Channel = { generation, peer: opened.peer, phase, report, refusal: null };
    this.#channels.set(sessionId, channel);
    opened.peer.onClose(() => {
      if (this.#channels.get(sessionId) !== channel) return;
      this.#channels.delete(sessionId);
      registry.dispatch(sessionId, { type: "channel_closed", generation });
    });
    this.#onReport(sessionId, channel.report);
    const fresh = freshValues(this.#context, sessionId);
    registry.dispatch(sessionId, { type: "hello", generation, phase: opened.hello.phase, fresh });
    return "opened";
  }

  #receive(sessionId: string, generation: string, message: { method: string; params: unknown }): void {
    const channel = this.#of(sessionId, generation);
    if (!channel) return;
    if (message.method === "worker/activity") {
      channel.report = reportSchema.parse(message.params);
      this.#onReport(sessionId, channel.report);
    } else if (message.method === "worker/progress") {
      this.#context.registry.dispatch(sessionId, { type: "progress", generation });
    } else if (message.method === "worker/closing") {
      const { reason } = closingSchema.parse(message.params);
      const fresh = freshValues(this.#context, sessionId);
      // Work in the queue wants a new worker; without any the session rests until somebody needs it.
      const goal = channel.report.openOperations > 0 ? "replace" : "passivate";
      const intent = { stopId: fresh.stopId, requestedAt: fresh.at, goal, force: false } as const;
      this.#context.registry.dispatch(sessionId, { type: "closing", generation, reason, intent });
    }
  }

  #of(sessionId: string, generation: string): Channel | null {
    const channel = this.#channels.get(sessionId);
    return channel?.generation === generation ? channel : null;
  }

  #isAwaited(sessionId: string, generation: string): boolean {
    return awaitsProcess(this.#context.registry.newest(sessionId), generation);
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.#context.clock.setTimer(delayMs, resolve));
  }
}
