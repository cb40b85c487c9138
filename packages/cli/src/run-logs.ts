import { join } from "node:path";
import { Interrupted } from "./confirm.ts";
import type { Context } from "./context.ts";
import { followFile } from "./follow-file.ts";
import { lineByLine } from "./log-line.ts";
import { TAIL_BYTES, logTail } from "./log-tail.ts";
import { renderEvent } from "./render-event.ts";
import { eventsOf } from "./run-attach.ts";

/** What the agent wrote and said, byte for byte (I150), and with `follow` what comes. */
export async function agentLogs(context: Context, session: string, follow: boolean): Promise<void> {
  const { io, options } = context;
  await untilInterrupted(context, async (signal) => {
    for await (const event of await eventsOf(context, { session, follow, signal })) {
      if (event.type !== "output" && event.type !== "message") continue;
      if (options.json) await context.print(JSON.stringify(event));
      else for (const { to, data } of renderEvent(event, "prompt")) await io[to].write(data);
    }
  });
}

/** The end of what the workers of a session wrote to standard error; by the state directory alone, whatever the daemon does. */
export async function workerLogs(context: Context, session: string, follow: boolean): Promise<void> {
  const { io, options } = context;
  const { showOffline } = await import("@holdfast/daemon-supervisor/offline");
  const { sessionId } = showOffline(options.home, session);
  const path = join(options.home, "logs", `worker-${sessionId}.err`);
  const { text, size } = logTail(path, TAIL_BYTES);
  const form = options.json
    ? lineByLine((line) => JSON.stringify({ sessionId, source: "worker", text: line }))
    : (raw: Uint8Array): Uint8Array => raw;
  if (text.length > 0) await io.stdout.write(form(text));
  else await context.notice(`its worker wrote nothing to standard error: ${path}`);
  if (follow)
    return await untilInterrupted(context, (signal) =>
      followFile({ path, from: size, signal }, (added) => io.stdout.write(form(added))),
    );
  // A last line without its end, as a crash leaves it, is a line too.
  if (options.json && text.length > 0 && text.at(-1) !== 0x0a) await io.stdout.write(form(Buffer.from("\n")));
}

/** Ctrl-C leaves quietly. */
async function untilInterrupted(context: Context, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const leave = new AbortController();
  const interrupt = context.io.onSignal("SIGINT", () => leave.abort(new Interrupted("")));
  try {
    await work(leave.signal);
  } finally {
    interrupt[Symbol.dispose]();
  }
}
