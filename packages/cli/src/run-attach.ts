import type { SessionEvent } from "@holdfast/client/protocol";
import { AttachKeys, Left } from "./attach-keys.ts";
import type { Context } from "./context.ts";
import { read } from "./reads.ts";
import { Viewer } from "./viewer.ts";

export interface ViewRequest {
  readonly session: string;
  readonly from?: string;
}

/** Events of a session as they come. Without a daemon: those on disk, since nothing can come. */
export async function runAttach(context: Context, wanted: ViewRequest & { readonly follow: boolean }): Promise<number> {
  const leave = new AbortController();
  const keys = wanted.follow ? new AttachKeys(context, wanted.session, leave) : null;
  const viewer = new Viewer(context, "live");
  try {
    for await (const event of await eventsOf(context, { ...wanted, signal: leave.signal })) await viewer.show(event);
    return 0;
  } catch (error) {
    if (!(error instanceof Left)) throw error;
    await viewer.endLine();
    await context.notice(`left: the session goes on (agent attach ${wanted.session})`);
    return error.exitCode;
  } finally {
    keys?.[Symbol.dispose]();
  }
}

export async function runTranscript(
  context: Context,
  wanted: ViewRequest & { readonly limit?: number },
): Promise<void> {
  const viewer = new Viewer(context, "document");
  let left = wanted.limit ?? Number.POSITIVE_INFINITY;
  for await (const event of await eventsOf(context, { ...wanted, follow: false })) {
    await viewer.show(event);
    left -= 1;
    if (left <= 0) return;
  }
}

type Wanted = ViewRequest & { readonly follow: boolean; readonly signal?: AbortSignal };

/** Asking for the session first tells an unknown one, and whether a daemon is there, before anything is written. */
export async function eventsOf(
  context: Context,
  { session, ...wanted }: Wanted,
): Promise<AsyncIterable<SessionEvent> | Iterable<SessionEvent>> {
  const from = wanted.from === undefined ? {} : { from: wanted.from };
  return await read<AsyncIterable<SessionEvent> | Iterable<SessionEvent>>(
    context,
    async (client) => {
      const leaving = wanted.signal ? { signal: wanted.signal } : {};
      const { sessionId } = await client.call("session/show", { session }, leaving);
      return client.attach({ ...wanted, session: sessionId, expectDaemon: true });
    },
    (state) => state.transcriptOffline(context.options.home, session, from),
  );
}
