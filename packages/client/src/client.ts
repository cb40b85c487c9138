import { setMaxListeners } from "node:events";
import { attach } from "./attach.ts";
import type { AttachOptions } from "./attach.ts";
import type { Connection } from "./connection.ts";
import { Connector, silent } from "./connector.ts";
import type { ConnectorOptions } from "./connector.ts";
import { Patience, defaultTimeouts, within } from "./patience.ts";
import type { Timeouts } from "./patience.ts";
import { ConnectionLost, ProtocolError, methods } from "./protocol/index.ts";
import type { MethodName, MethodParams, MethodResults, SessionEvent } from "./protocol/index.ts";

export interface ClientOptions extends ConnectorOptions {
  /** Who calls, for messages. */
  readonly name: string;
  /** Told once when a daemon is silent for `noticeMs`. */
  readonly onNotice?: (text: string) => void;
  readonly timeouts?: Partial<Timeouts>;
  /** Of the program that calls. Where it is given, `onNotice` is told once of a daemon of the same protocol and another build. */
  readonly version?: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface Client extends Disposable {
  /**
   * One request, over one shared connection. A connection lost before the answer: it is sent again, with the same request id, so
   * that it takes effect once. Throws `ProtocolError`, or the signal's reason.
   */
  call<M extends MethodName>(method: M, params: MethodParams<M>, options?: CallOptions): Promise<MethodResults[M]>;
  /** Replays a session's events from a cursor and follows them, over a connection of its own, read only as fast as it is consumed. */
  attach(options: AttachOptions): AsyncGenerator<SessionEvent, void, undefined>;
  close(): void;
}

/** Lost connections after which one call gives up, so that a daemon that ends at each request is not restarted for ever. */
const MAX_RESENDS = 32;

/** A client of one home's daemon. Connects at the first call. */
export function createClient(options: ClientOptions): Client {
  const connector = new Connector(options);
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const closing = new AbortController();
  // Each call side by side listens to it until its answer comes; Node takes more than ten for a leak and says so on standard error.
  setMaxListeners(0, closing.signal);
  const patience = (): Patience => new Patience(timeouts, options.onNotice);
  let shared: Connection | null = null;
  let saidBuild = false;

  const stopSignal = (signal: AbortSignal | undefined): AbortSignal =>
    signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;

  async function share(acquire: () => Promise<Connection>): Promise<Connection> {
    if (shared && !shared.peer.closed) return shared;
    const fresh = await acquire();
    // A call side by side may have been quicker: one connection is enough.
    if (shared && !shared.peer.closed) fresh.peer.destroy();
    else shared = fresh;
    sayBuild(shared);
    return shared;
  }

  /** It serves all the same (DESIGN §9). */
  function sayBuild({ hello }: Connection): void {
    const { version } = options;
    if (saidBuild || version === undefined || hello.version === version) return;
    saidBuild = true;
    options.onNotice?.(`the daemon is of build ${hello.version}, this program of ${version}: agent daemon restart`);
  }

  async function sendOnce(request: { method: MethodName; params: object }, wait: Patience, signal: AbortSignal) {
    const policy = methods[request.method].mutating ? "start" : "never";
    const connection = await share(() => connector.acquire({ policy, patience: wait, signal }));
    const answer = connection.peer.request(request.method, request.params, { signal });
    try {
      return await answered(answer, connection, wait, options.home);
    } catch (error) {
      // A silent connection is not worth keeping; the next call looks for the owner anew.
      if (error instanceof ProtocolError && error.code === "daemon_not_responding") connection.peer.destroy();
      // The owner that lost its home refused before any effect: its successor is asked.
      if (error instanceof ProtocolError && error.code === "ownership_lost") connection.peer.destroy();
      throw error;
    }
  }

  async function call<M extends MethodName>(method: M, params: MethodParams<M>, more: CallOptions = {}) {
    if (!Object.hasOwn(methods, method)) throw new ProtocolError("usage", `no method ${JSON.stringify(method)}`);
    const signal = stopSignal(more.signal);
    const wait = patience();
    for (let resends = 0; ; resends++) {
      try {
        const result = await sendOnce({ method, params }, wait, signal);
        if (isResult(method, result)) return result;
        throw new ProtocolError("version_mismatch", `the daemon answered ${method} with something else`, {
          hint: "agent daemon restart",
        });
      } catch (error) {
        if (!mayResend(error) || resends >= MAX_RESENDS) throw giveUp(error, options.home);
        await wait.pause(silent(options.home, shared?.hello.pid ?? 0), { signal });
      }
    }
  }

  function close(): void {
    closing.abort(new Error(`${options.name}: the client is closed`));
    shared?.peer.destroy();
    shared = null;
  }

  return {
    call,
    attach: (wanted) => attach({ ...wanted, signal: stopSignal(wanted.signal) }, { connector, patience }),
    close,
    [Symbol.dispose]: close,
  };
}

/** The daemon is of this protocol and fields may be added (I26), so the shape is not checked field by field. */
const isResult = <M extends MethodName>(_method: M, value: unknown): value is MethodResults[M] =>
  typeof value === "object" && value !== null;

const mayResend = (error: unknown): boolean =>
  error instanceof ConnectionLost || (error instanceof ProtocolError && error.code === "ownership_lost");

const giveUp = (error: unknown, home: string): unknown =>
  error instanceof ConnectionLost
    ? new ProtocolError("daemon_not_responding", `the daemon of ${home} ends its connections before it answers`, {
        hint: "agent daemon logs",
      })
    : error;

/**
 * A request may rightly take long. After a while of silence the daemon is asked for its status: an answer is a sign of life, and only
 * silence there too counts against it.
 */
async function answered(
  answer: Promise<unknown>,
  { peer, hello }: Connection,
  patience: Patience,
  home: string,
): Promise<unknown> {
  const settled = answer.then((value) => ({ value }));
  for (;;) {
    const first = await within(settled, patience.noticeMs);
    if (first) return first.value.value;
    // Only this request was silent until now; whether the daemon is, its answer to another one tells.
    patience.renew();
    const sign = peer.request("daemon/status", {}).then(
      () => null,
      () => null,
    );
    const next = await patience.during(Promise.race([settled, sign]), silent(home, hello.pid));
    if (next) return next.value;
    if (peer.closed) return await answer;
    patience.renew();
  }
}
