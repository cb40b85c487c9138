import type { Duplex } from "node:stream";
import { ConnectionLost, Peer } from "@holdfast/client/protocol";
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
import type { Context } from "./context.ts";
import { freshValues } from "./context.ts";
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

/** The authenticated control channels to workers: one per session at most. */
export class Channels {
  readonly #context: Context;
  readonly #watcher: Watcher;
  readonly #dial: Dial;
  readonly #onReport: (sessionId: string, report: WorkerReport) => void;
  readonly #channels = new Map<string, Channel>();
  readonly #connecting = new Set<string>();

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

  /** Connects and authenticates until it works or the state no longer wants it. */
  async connect(sessionId: string, process: WorkerProcess): Promise<void> {
    const live = this.#of(sessionId, process.generation);
    if (live && !live.peer.closed) {
      const fresh = freshValues(this.#context, sessionId);
      this.#context.registry.dispatch(sessionId, {
        type: "hello",
        generation: process.generation,
        phase: live.phase,
        fresh,
      });
      return;
    }
    if (this.#connecting.has(process.generation)) return;
    this.#connecting.add(process.generation);
    try {
      const { clock } = this.#context;
      const since = clock.monotonic();
      while (this.#isWanted(sessionId, process)) {
        if (await this.#attempt(sessionId, process)) return;
        this.#watcher.look(sessionId, process);
        const waited = clock.monotonic() - since;
        await this.#pause(Math.min(LAST_RETRY_MS, Math.max(FIRST_RETRY_MS, waited * RETRY_SHARE)));
      }
    } finally {
      this.#connecting.delete(process.generation);
    }
  }

  async startWorker(stamp: Stamp, process: WorkerProcess): Promise<void> {
    const { sessionId } = stamp;
    const { registry, catalog, secrets } = this.#context;
    const { generation } = process;
    const channel = this.#of(sessionId, generation);
    const record = catalog.get(sessionId);
    if (!channel || !record) return;
    try {
      const environment = { ...record.environment, ...secrets.get(sessionId) };
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
  ): Promise<{ readonly peer: Peer; readonly hello: Extract<WorkerHello, { kind: "hello" }> } | null> {
    const peer = new Peer(this.#dial(process.socketPath), { onNotification });
    const parameters = this.credentials(sessionId, process, "control");
    const { signal, timer } = abortAfter(this.#context.clock, AUTHENTICATE_MS);
    try {
      const hello = helloSchema.parse(await peer.request("authenticate", parameters, { signal }));
      if (hello.kind === "hello") return { peer, hello };
      if (hello.why === "stale_epoch") this.#context.onOwnershipLost(hello.epoch);
      this.#context.log.warn({ sessionId, why: hello.why }, "a worker refused this supervisor");
    } catch (error) {
      this.#context.log.debug({ sessionId, reason: reasonOf(error) }, "a worker does not answer yet");
    } finally {
      timer[Symbol.dispose]();
    }
    peer.destroy();
    return null;
  }

  async #attempt(sessionId: string, process: WorkerProcess): Promise<boolean> {
    const { registry } = this.#context;
    const { generation } = process;
    const opened = await this.#open(sessionId, process, (method, params) =>
      this.#receive(sessionId, generation, { method, params }),
    );
    if (!opened) return false;
    if (opened.peer.closed || !this.#isWanted(sessionId, process)) {
      opened.peer.destroy();
      return false;
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
    return true;
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

  #isWanted(sessionId: string, { generation }: WorkerProcess): boolean {
    return awaitsProcess(this.#context.registry.newest(sessionId), generation);
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.#context.clock.setTimer(delayMs, resolve));
  }
}
