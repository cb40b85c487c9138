import type { Connector } from "./connector.ts";
import { EventQueue } from "./event-queue.ts";
import type { Patience } from "./patience.ts";
import { ConnectionLost, isObject } from "./protocol/index.ts";
import type { SessionEvent } from "./protocol/index.ts";

export interface AttachOptions {
  /** Id, name, or a part of an id; resolved by the daemon once, at the first connection. */
  readonly session: string;
  /** Cursor after which events are wanted, `start` or `now`. Default `start`. */
  readonly from?: string;
  /** False: ends with what is there. */
  readonly follow: boolean;
  readonly signal?: AbortSignal;
  /** A daemon was there a moment ago: wait for its successor already at the first connection, instead of failing. */
  readonly expectDaemon?: boolean;
}

interface Seams {
  readonly connector: Connector;
  readonly patience: () => Patience;
}

/** An attachment that held this long was a success, whatever ended it. */
const LASTED_MS = 1_000;

/** The events after a cursor, each once and in order, over as many connections as it takes. */
export async function* attach(
  { from, follow, signal, ...options }: AttachOptions,
  { connector, patience }: Seams,
): AsyncGenerator<SessionEvent, void, undefined> {
  let session = options.session;
  let attached = options.expectDaemon ?? false;
  let attachedAt = 0;
  let last: SessionEvent | null = null;
  const wait = patience();
  for (;;) {
    const queue = new EventQueue();
    const connection = await connector.acquire({
      policy: attached ? "successor" : "never",
      patience: wait,
      signal,
      onNotification: (method, params) => queue.receive(method, params),
      onClose: () => queue.lost(),
    });
    queue.flowThrough(connection.socket);
    const stop = (): void => connection.peer.destroy();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      const cursor = last?.cursor ?? from;
      const request = connection.peer.request("session/attach", {
        session,
        follow,
        ...(cursor === undefined ? {} : { from: cursor }),
      });
      const resolved = await accepted(wait.during(request, attaching));
      if (resolved !== null) {
        session = resolved.sessionId;
        // `now` is a place from here on: what comes between two connections is not lost.
        from = resolved.cursor ?? from;
        attached = true;
        attachedAt = performance.now();
        for (let event = await queue.next(); event; event = await queue.next()) {
          // A daemon that sends the event at the cursor once more must not make it appear twice.
          if (last && event.cursor === last.cursor && event.type === last.type && event.at === last.at) continue;
          last = event;
          wait.renew();
          yield event;
        }
        if (queue.ending === "end") return;
        // Not for one that ended at once: a daemon that fails at each attach must not be asked for ever.
        if (performance.now() - attachedAt > LASTED_MS) wait.renew();
      }
    } finally {
      signal?.removeEventListener("abort", stop);
      connection.peer.destroy();
    }
    signal?.throwIfAborted();
    await wait.pause(attaching, { signal });
  }
}

const attaching = {
  code: "daemon_not_responding",
  text: "the daemon does not answer an attach",
  hint: "agent ps",
} as const;

interface Accepted {
  readonly sessionId: string;
  readonly cursor: string | null;
}

/** `null` when the connection ended first. */
async function accepted(answer: Promise<unknown>): Promise<Accepted | null> {
  try {
    const value = await answer;
    if (!isObject(value) || typeof value["sessionId"] !== "string") return null;
    const { sessionId, cursor } = value;
    return { sessionId, cursor: typeof cursor === "string" ? cursor : null };
  } catch (error) {
    if (error instanceof ConnectionLost) return null;
    throw error;
  }
}
