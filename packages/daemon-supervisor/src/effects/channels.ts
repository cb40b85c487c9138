import { connect } from "node:net";
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
import type { StopIntent, WorkerProcess } from "../lifecycle/state.ts";
import { awaitsProcess } from "../lifecycle/reduce.ts";
import type { Context } from "./context.ts";
import { freshValues, secretsOf } from "./context.ts";
import type { Watcher } from "./watch.ts";

type Hello = Extract<WorkerHello, { kind: "hello" }>;
type Refusal = Extract<WorkerHello, { kind: "refused" }>;

type Opened =
  | { readonly kind: "opened"; readonly peer: Peer; readonly hello: Hello }
  | { readonly kind: "refused"; readonly why: Refusal["why"] }
  /** It does not answer, or not yet. */
  | { readonly kind: "silent" };

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

/** The authenticated control channels to workers: one per session at most. */
export class Channels {
  readonly #context: Context;
  readonly #watcher: Watcher;
  readonly #onReport: (sessionId: string, report: WorkerReport) => void;
  readonly #channels = new Map<string, Channel>();
  readonly #connecting = new Set<string>();
  /** Why a worker will not have this supervisor, by session. */
  readonly #refused = new Map<string, { readonly generation: string; readonly why: string }>();

  constructor(context: Context, watcher: Watcher, onReport: (sessionId: string, report: WorkerReport) => void) {
    this.#context = context;
    this.#watcher = watcher;
    this.#onReport = onReport;
  }

  report(sessionId: string): WorkerReport | null {
    return this.#channels.get(sessionId)?.report ?? null;
  }

  refusal(sessionId: string): string | null {
    return this.#channels.get(sessionId)?.refusal ?? null;
  }

  /** Why the worker that a session waits for refuses this supervisor; `null` while it does not. */
  refused(sessionId: string): string | null {
    const refused = this.#refused.get(sessionId);
    return refused && this.#isAwaited(sessionId, refused.generation) ? refused.why : null;
  }

  peer(sessionId: string): Peer | null {
    return this.#channels.get(sessionId)?.peer ?? null;
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
        const attempt = await this.#attempt(sessionId, process);
        if (attempt === "connected") return;
        if (attempt === "refused") {
          this.#watcher.watch(sessionId, process);
          return;
        }
        this.#watcher.look(sessionId, process);
        const waited = clock.monotonic() - since;
        await this.#pause(Math.min(LAST_RETRY_MS, Math.max(FIRST_RETRY_MS, waited * RETRY_SHARE)));
      }
    } finally {
      this.#connecting.delete(generation);
    }
  }

  async startWorker(sessionId: string, process: WorkerProcess): Promise<void> {
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
        registry.dispatch(sessionId, { type: "serving", generation });
      } else {
        const { terminal, reason } = answer;
        registry.dispatch(sessionId, { type: "start_failed", generation, terminal, reason });
      }
    } catch (error) {
      // A lost channel says so by itself and leads to a new hello.
      if (error instanceof ConnectionLost) return;
      registry.dispatch(sessionId, { type: "start_failed", generation, terminal: false, reason: reasonOf(error) });
    }
  }

  async askStop(sessionId: string, process: WorkerProcess, intent: StopIntent): Promise<void> {
    const { registry } = this.#context;
    const channel = this.#of(sessionId, process.generation);
    if (!channel) return;
    const { stopId, goal, force } = intent;
    try {
      const answer = stopAnswerSchema.parse(await channel.peer.request("worker/stop", { stopId, goal, force }));
      if (answer.kind === "busy") {
        channel.refusal = answer.why;
        registry.dispatch(sessionId, { type: "busy", stopId, why: answer.why });
      } else registry.dispatch(sessionId, { type: "acknowledged", stopId, graceMs: answer.graceMs });
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
    return {
      protocol: WORKER_PROTOCOL_VERSION,
      token: process.token,
      sessionId,
      generation: process.generation,
      epoch: this.#context.epoch,
      supervisor: this.#context.self,
      purpose,
    };
  }

  async #open(
    sessionId: string,
    process: WorkerProcess,
    onNotification: (method: string, params: unknown) => void,
  ): Promise<Opened> {
    const socket = connect(process.socketPath);
    const peer = new Peer(socket, { onNotification });
    const parameters = this.credentials(sessionId, process, "control");
    try {
      const signal = AbortSignal.timeout(AUTHENTICATE_MS);
      const hello = helloSchema.parse(await peer.request("authenticate", parameters, { signal }));
      if (hello.kind === "hello") return { kind: "opened", peer, hello };
      if (hello.why === "stale_epoch") this.#context.onOwnershipLost(hello.epoch);
      this.#context.log.warn({ sessionId, why: hello.why }, "a worker refused this supervisor");
      peer.destroy();
      return { kind: "refused", why: hello.why };
    } catch (error) {
      this.#context.log.debug({ sessionId, reason: reasonOf(error) }, "a worker does not answer yet");
    }
    peer.destroy();
    return { kind: "silent" };
  }

  async #attempt(sessionId: string, process: WorkerProcess): Promise<"connected" | "refused" | "silent"> {
    const { registry } = this.#context;
    const { generation } = process;
    const opened = await this.#open(sessionId, process, (method, params) =>
      this.#receive(sessionId, generation, { method, params }),
    );
    if (opened.kind === "refused") this.#refused.set(sessionId, { generation, why: opened.why });
    else this.#refused.delete(sessionId);
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
    return "connected";
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
