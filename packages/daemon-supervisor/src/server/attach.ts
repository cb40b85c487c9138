import type { AttachEnding, MethodParams, MethodResults, Peer } from "@holdfast/client/protocol";
import {
  endCursor,
  parseCursor,
  readTranscript,
  sessionDirectory,
  transcriptAt,
  transcriptPath,
  whyUnreadable,
} from "@holdfast/session-worker/transport";
import { ProtocolError, attachFrom } from "@holdfast/client/protocol";
import { reasonOf } from "@holdfast/shared-process";
import { relay } from "../effects/relay.ts";
import type { WorkerProcess } from "../lifecycle/state.ts";
import { requireFolder } from "../folder.ts";
import type { Services } from "./services.ts";

/** One wait for a state change; the loop around it makes it as long as the viewer stays. */
const FOLLOW_SLICE_MS = 60_000;

const transcriptOf = (home: string, sessionId: string): string => transcriptPath(sessionDirectory(home, sessionId));

const eventLine = (line: string): string => `{"jsonrpc":"2.0","method":"session/event","params":${line}}\n`;

/** Streams a session to one connection: from its worker while there is one, else from the transcript. Never starts anything. */
export function attach(
  services: Services,
  viewer: Peer,
  params: MethodParams<"session/attach">,
): MethodResults["session/attach"] {
  const sessionId = services.sessions.select(params.session);
  refuseUnreadable(services, sessionId);
  const from = resolveFrom(services, sessionId, params.from);
  // After the answer has been written: events must not come before it.
  setImmediate(() => void run(services, viewer, { ...params, sessionId, from }));
  return { sessionId, cursor: from };
}

/** Said at once: a stream of what cannot be read would end, and be asked for again, until nobody waits any longer. */
function refuseUnreadable({ context }: Services, sessionId: string): void {
  requireFolder(context, sessionId);
  const why = whyUnreadable(transcriptAt(transcriptOf(context.home, sessionId), context.fs));
  if (why !== null) throw new ProtocolError("file_not_found", why, { hint: "agent doctor tells the way out" });
}

async function run(services: Services, viewer: Peer, attachment: Attachment): Promise<void> {
  try {
    viewer.notify("session/attach_ended", { reason: await stream(services, viewer, attachment) });
  } catch (error) {
    // The viewer learns it as a lost connection and comes back from its last cursor.
    services.context.log.warn({ sessionId: attachment.sessionId, reason: reasonOf(error) }, "an attachment failed");
    viewer.destroy();
  }
}

/** Where the stream begins, as a place that stays the same when it is asked for again. */
function resolveFrom({ context }: Services, sessionId: string, from: string = attachFrom.start): string {
  if (from === attachFrom.now) return endCursor(transcriptOf(context.home, sessionId), context.fs);
  if (from !== attachFrom.start && parseCursor(from) === null)
    throw new ProtocolError("usage", `not a cursor: ${from.slice(0, 100)}`, { hint: "use one that an event carried" });
  return from;
}

type Attachment = MethodParams<"session/attach"> & { readonly sessionId: string; readonly from: string };

const REBIND_MS = 2_000;
/** Lines are handed over in pieces of this size, so that a long transcript never holds the loop. */
const CHUNK_CHARACTERS = 64 * 1024;

async function stream(services: Services, viewer: Peer, attachment: Attachment): Promise<AttachEnding> {
  const { registry } = services.context;
  const { sessionId, follow } = attachment;
  const state = registry.published(sessionId);
  if (state?.name === "ready") return relayed(services, viewer, { attachment, process: state.process });
  await replay(services, viewer, attachment);
  if (!follow) return "end";
  // Whatever comes next writes to the same transcript: the viewer attaches again from its last cursor.
  while (!viewer.closed) {
    const next = await registry.until(sessionId, (now) => now !== state, FOLLOW_SLICE_MS);
    if (next !== "timeout") return "reattach";
  }
  return "end";
}

async function replay({ context }: Services, viewer: Peer, { sessionId, from }: Attachment): Promise<void> {
  let chunk = "";
  const send = async (): Promise<void> => {
    if (!viewer.writeLines(chunk)) await viewer.drained();
    chunk = "";
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  for (const { line } of readTranscript({ path: transcriptOf(context.home, sessionId), fs: context.fs, from })) {
    if (viewer.closed) return;
    chunk += eventLine(line);
    if (chunk.length >= CHUNK_CHARACTERS) await send();
  }
  if (chunk !== "") await send();
}

/** False when the worker does not answer: the viewer comes back later. */
async function rebind(worker: Peer | null): Promise<boolean> {
  try {
    await worker?.request("worker/rebind", {}, { signal: AbortSignal.timeout(REBIND_MS) });
    return worker !== null;
  } catch {
    // Frozen, gone or of an older build: whatever it is shows in its state, and the attachment is tried again.
    return false;
  }
}

/** Passes the worker's lines on unread. */
async function relayed(
  { channels, context }: Services,
  viewer: Peer,
  { attachment, process }: { attachment: Attachment; process: WorkerProcess },
): Promise<AttachEnding> {
  const { sessionId, from, follow } = attachment;
  // Somebody removed its socket while it is connected: it binds it again when told (I146).
  if (!context.fs.exists(process.socketPath) && !(await rebind(channels.peer(sessionId)))) return "reattach";
  const left = new AbortController();
  viewer.onClose(() => left.abort());
  return relay({
    socketPath: process.socketPath,
    authenticate: channels.credentials(sessionId, process, "attach"),
    attach: { follow, from },
    sink: (lines) => {
      viewer.writeLines(lines);
      return viewer.drained();
    },
    signal: left.signal,
  });
}
