import type { Socket } from "node:net";
import { dirname } from "node:path";
import { ensurePrivateDirectory } from "@holdfast/recovery-journal";
import { reasonOf } from "@holdfast/shared-process";
import { Listener } from "@holdfast/session-worker/transport";
import { Peer, ProtocolError, encodeFrame, methods } from "@holdfast/client/protocol";
import type { Hello, MethodName, MethodParams, MethodResults } from "@holdfast/client/protocol";
import type { Logger } from "pino";
import { handlers } from "./handlers.ts";
import type { Call } from "./handlers.ts";
import { asProtocolError } from "./protocol-error.ts";
import type { Creations } from "./create.ts";
import type { Services } from "./services.ts";

const isMethod = (name: string): name is MethodName => Object.hasOwn(methods, name);

type Result<M extends MethodName> = MethodResults[M] | Promise<MethodResults[M]>;

function call<M extends MethodName>(name: M, context: Call, params: unknown): Result<M> {
  const handler: (context: Call, params: MethodParams<M>) => Result<M> = handlers[name];
  // Parsed a moment ago by the schema of this very name.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return handler(context, params as MethodParams<M>);
}

/** For what was answered to leave, when the daemon ends. */
const CLOSE_DRAIN_MS = 500;

export interface PublicServerOptions {
  readonly creations: Creations;
  readonly hello: Hello;
  readonly path: string;
}

/** The public socket. One connection's fault costs that connection alone (I116). */
export class PublicServer {
  readonly #services: Services;
  readonly #creations: Creations;
  readonly #hello: Hello;
  readonly #log: Logger;
  readonly #sockets = new Set<Socket>();
  readonly #listener: Listener;
  readonly #path: string;
  #closed = false;

  constructor(services: Services, { creations, hello, path }: PublicServerOptions) {
    this.#services = services;
    this.#path = path;
    this.#creations = creations;
    this.#hello = hello;
    this.#log = services.context.log;
    this.#listener = new Listener({ path, ids: services.context.ids, onConnection: (socket) => this.#accept(socket) });
  }

  listen(): Promise<void> {
    return this.#listener.bind();
  }

  /** Binds again if clients that go by the path no longer reach this daemon (I146). */
  async heal(): Promise<void> {
    if (this.#closed || this.#listener.isReachable) return;
    this.#log.warn({ path: this.#path }, "the public socket was removed; it is bound again");
    ensurePrivateDirectory(this.#services.context.fs, dirname(this.#path));
    await this.#listener.bind();
  }

  /** Takes no more connections; what was answered still leaves. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#listener.close();
    const ends = [...this.#sockets].map((socket) => new Promise<void>((resolve) => socket.end(() => resolve())));
    // A client that does not read must not keep the daemon from ending.
    const bound = new Promise<void>((resolve) => void this.#services.context.clock.setTimer(CLOSE_DRAIN_MS, resolve));
    await Promise.race([Promise.all(ends), bound]);
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    const peer: Peer = new Peer(socket, {
      onRequest: (method, params) => this.#handle(peer, method, params),
      onBug: (error) => this.#log.error({ err: error }, "a request failed by a bug"),
    });
    socket.write(encodeFrame({ method: "hello", params: this.#hello }));
  }

  async #handle(peer: Peer, name: string, params: unknown): Promise<unknown> {
    if (!isMethod(name)) throw new ProtocolError("usage", `no method ${JSON.stringify(name)}`);
    const method = methods[name];
    const parsed = method.params.safeParse(params ?? {});
    if (!parsed.success) {
      const where = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
      throw new ProtocolError("usage", `${name}: ${where}`);
    }
    if (method.mutating && this.#services.status() !== "current")
      throw new ProtocolError("ownership_lost", "this daemon no longer owns its home", {
        hint: "agent daemon restart",
      });
    try {
      return await call(name, { services: this.#services, creations: this.#creations, peer }, parsed.data);
    } catch (error) {
      const told = asProtocolError(error);
      if (told !== error && !(error instanceof ProtocolError))
        this.#log.warn({ method: name, reason: reasonOf(error) }, "a request failed");
      throw told;
    }
  }
}
