import type { CancelParams } from "../transport/messages.ts";
import type { Duplex } from "node:stream";
import { safeParse } from "zod/mini";
import type { ZodMiniType } from "zod/mini";
import { Peer, ProtocolError } from "@holdfast/client/protocol";
import {
  attachSchema,
  authenticateSchema,
  cancelSchema,
  startSchema,
  stopSchema,
  submitSchema,
} from "../transport/messages.ts";
import type {
  Authenticate,
  StartParams,
  StartResult,
  SubmitAnswer,
  SubmitParams,
  WorkerHello,
  WorkerReport,
  WorkerStopAnswer,
  WorkerStopParams,
} from "../transport/messages.ts";
import type { Viewer } from "./viewer.ts";

/** What a connection may ask of the worker. */
export interface WorkerService {
  authenticate(connection: Connection, params: Authenticate): WorkerHello;
  /** Whether the supervisor of this epoch is still the newest. */
  isCurrent(epoch: number): boolean;
  start(params: StartParams): Promise<StartResult>;
  submit(params: SubmitParams): Promise<SubmitAnswer>;
  cancel(params: CancelParams): Promise<void>;
  stop(params: WorkerStopParams): WorkerStopAnswer;
  report(): WorkerReport;
  /** Binds the socket again if somebody removed it (I146). */
  rebind(): Promise<object>;
  createViewer(peer: Peer, params: { from?: string | undefined; follow: boolean }): Viewer;
  closed(connection: Connection): void;
}

const MUTATING: ReadonlySet<string> = new Set([
  "worker/start",
  "worker/stop",
  "session/prompt",
  "session/steer",
  "session/follow_up",
  "session/cancel",
]);

/** One connection: nothing but `authenticate` before it has proven itself. */
export class Connection {
  readonly peer: Peer;
  readonly #service: WorkerService;
  #who: Authenticate | null = null;
  #viewer: Viewer | null = null;

  constructor(socket: Duplex, service: WorkerService) {
    this.#service = service;
    this.peer = new Peer(socket, {
      onRequest: async (method, params) => this.#answer(method, params),
      onClose: () => {
        // The viewer sees that its peer is closed.
        this.#viewer?.wake();
        service.closed(this);
      },
    });
  }

  get viewer(): Viewer | null {
    return this.#viewer;
  }

  #answer(method: string, params: unknown): unknown {
    if (method === "authenticate") return this.#authenticate(params);
    const who = this.#who;
    if (!who) {
      this.peer.destroy();
      throw new ProtocolError("permission_denied", "authenticate first");
    }
    if (who.purpose === "attach") {
      if (method === "session/attach" && !this.#viewer) return this.#attach(params);
      throw new ProtocolError("usage", "a connection of this kind attaches once");
    }
    if (MUTATING.has(method) && !this.#service.isCurrent(who.epoch))
      throw new ProtocolError("ownership_lost", "a newer supervisor owns this worker");
    return this.#control(method, params);
  }

  #authenticate(params: unknown): WorkerHello {
    const who = valid(authenticateSchema, params);
    const hello = this.#service.authenticate(this, who);
    if (hello.kind === "hello") this.#who = who;
    // After the answer has been written.
    else setImmediate(() => this.peer.end());
    return hello;
  }

  #control(method: string, params: unknown): unknown {
    switch (method) {
      case "worker/start":
        return this.#service.start(valid(startSchema, params));
      case "worker/stop":
        return this.#service.stop(valid(stopSchema, params));
      case "worker/rebind":
        return this.#service.rebind();
      case "session/prompt":
      case "session/steer":
      case "session/follow_up": {
        const submission = valid(submitSchema, params);
        if (method !== `session/${submission.kind}`) throw new ProtocolError("usage", `${method} with another kind`);
        return this.#service.submit(submission);
      }
      case "session/cancel":
        return this.#service.cancel(valid(cancelSchema, params)).then(() => ({}));
      default:
        throw new ProtocolError("usage", `no method ${method}`);
    }
  }

  #attach(params: unknown): { attached: true } {
    const viewer = this.#service.createViewer(this.peer, valid(attachSchema, params));
    this.#viewer = viewer;
    // Events come behind the answer; a transcript that cannot be read ends this connection alone.
    setImmediate(
      () =>
        void viewer
          .run()
          .catch(() => this.peer.destroy())
          .finally(() => this.peer.end()),
    );
    return { attached: true };
  }
}

function valid<T>(schema: ZodMiniType<T>, params: unknown): T {
  const parsed = safeParse(schema, params);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ProtocolError("usage", `invalid parameters: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`);
}
