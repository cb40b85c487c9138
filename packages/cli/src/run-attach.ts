import type { SessionEvent } from "@holdfast/client/protocol";
import type { Context } from "./context.ts";
import { classifyInterrupt } from "./interrupts.ts";
import { read } from "./reads.ts";
import { renderEvent } from "./render-event.ts";

const NEWLINE = 0x0a;

export interface ViewRequest {
  readonly session: string;
  readonly from?: string;
}

/** Thrown into the stream of events when a person leaves; carries the exit status. */
class Left extends Error {
  readonly exitCode: number;
  constructor(exitCode: number) {
    super("left");
    this.exitCode = exitCode;
  }
}

/** Events of a session as they come. Without a daemon: those on disk, since nothing can come. */
export async function runAttach(context: Context, wanted: ViewRequest & { readonly follow: boolean }): Promise<number> {
  const leave = new AbortController();
  const keys = listen(context, wanted.session, leave);
  try {
    const viewer = new Viewer(context);
    for await (const event of await eventsOf(context, { ...wanted, signal: leave.signal })) await viewer.show(event);
    return 0;
  } catch (error) {
    if (error instanceof Left) return error.exitCode;
    throw error;
  } finally {
    keys[Symbol.dispose]();
  }
}

export async function runTranscript(
  context: Context,
  wanted: ViewRequest & { readonly limit?: number },
): Promise<void> {
  const viewer = new Viewer(context);
  let left = wanted.limit ?? Number.POSITIVE_INFINITY;
  for await (const event of await eventsOf(context, { ...wanted, follow: false })) {
    await viewer.show(event);
    left -= 1;
    if (left <= 0) return;
  }
}

type Wanted = ViewRequest & { readonly follow: boolean; readonly signal?: AbortSignal };

/** Asking for the session first tells an unknown one, and whether a daemon is there, before anything is written. */
async function eventsOf(
  context: Context,
  { session, ...wanted }: Wanted,
): Promise<AsyncIterable<SessionEvent> | Iterable<SessionEvent>> {
  const from = wanted.from === undefined ? {} : { from: wanted.from };
  return await read<AsyncIterable<SessionEvent> | Iterable<SessionEvent>>(
    context,
    async (client) => {
      const { sessionId } = await client.call("session/show", { session });
      return client.attach({ ...wanted, session: sessionId, expectDaemon: true });
    },
    (state) => state.transcriptOffline(context.options.home, session, from),
  );
}

/** Writes events one after the other; prompts and notices begin on a line of their own. */
class Viewer {
  readonly #context: Context;
  #midLine = false;

  constructor(context: Context) {
    this.#context = context;
  }

  async show(event: SessionEvent): Promise<void> {
    const { io, options } = this.#context;
    if (options.json) return await this.#context.print(JSON.stringify(event));
    const flows = event.type === "output" || event.type === "message";
    for (const { to, data } of renderEvent(event, "viewer")) {
      if (this.#midLine && !flows) await io.stdout.write("\n");
      await io[to].write(data);
      if (data.length > 0) this.#midLine = flows && Buffer.from(data).at(-1) !== NEWLINE;
    }
  }
}

/** Ctrl-\ leaves. Ctrl-C asks before it cancels, and leaves where there is nobody to ask. */
function listen(context: Context, session: string, leave: AbortController): Disposable {
  const { io } = context;
  let previous: number | null = null;
  let asking = false;
  const quit = io.onSignal("SIGQUIT", () => leave.abort(new Left(0)));
  const interrupt = io.onSignal("SIGINT", () => {
    const now = io.now();
    const repeated = classifyInterrupt(previous, now) === "repeat";
    if (repeated) return;
    previous = now;
    if (asking || !io.stdin.isTTY) {
      leave.abort(new Left(130));
      return;
    }
    asking = true;
    void askToCancel(context, session)
      .catch((error: unknown) => leave.abort(error))
      .finally(() => {
        asking = false;
      });
  });
  return {
    [Symbol.dispose]: () => {
      quit[Symbol.dispose]();
      interrupt[Symbol.dispose]();
    },
  };
}

async function askToCancel(context: Context, session: string): Promise<void> {
  const answer = await context.io.ask("cancel the running turn? [y/N] (Ctrl-\\ leaves) ");
  if (!/^y(es)?$/i.test(answer)) return;
  const { systemIds } = await import("@holdfast/shared-process");
  const client = await context.client();
  await client.call("session/cancel", { session, requestId: systemIds.newId() });
}
