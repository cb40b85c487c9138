import type { AttachEnding, MethodParams, MethodResults, Peer } from "@holdfast/client/protocol";
import { readTranscript, sessionDirectory } from "@holdfast/session-worker/transport";
import { relay } from "../effects/relay.ts";
import type { WorkerProcess } from "../lifecycle/state.ts";
import type { Services } from "./services.ts";

/** One wait for a state change; the loop around it makes it as long as the viewer stays. */
const FOLLOW_SLICE_MS = 60_000;

const eventLine = (line: string): string => `{"jsonrpc":"2.0","method":"session/event","params":${line}}\n`;

/** Streams a session to one connection: from its worker while there is one, else from the transcript. Never starts anything. */
export function attach(
  services: Services,
  viewer: Peer,
  params: MethodParams<"session/attach">,
): MethodResults["session/attach"] {
  const sessionId = services.sessions.select(params.session);
  // After the answer has been written: events must not come before it.
  setImmediate(() => {
    void stream(services, viewer, { ...params, sessionId }).then((reason) => {
      viewer.notify("session/attach_ended", { reason });
    });
  });
  return { sessionId };
}

type Attachment = MethodParams<"session/attach"> & { readonly sessionId: string };

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
  const path = `${sessionDirectory(context.home, sessionId)}/transcript.jsonl`;
  for (const { line } of readTranscript({ path, fs: context.fs, ...(from === undefined ? {} : { from }) })) {
    if (viewer.closed) return;
    if (!viewer.writeLines(eventLine(line))) await viewer.drained();
  }
}

/** Passes the worker's lines on unread. */
async function relayed(
  { channels }: Services,
  viewer: Peer,
  { attachment, process }: { attachment: Attachment; process: WorkerProcess },
): Promise<AttachEnding> {
  const { sessionId, from, follow } = attachment;
  const left = new AbortController();
  viewer.onClose(() => left.abort());
  return relay({
    socketPath: process.socketPath,
    authenticate: channels.credentials(sessionId, process, "attach"),
    attach: { follow, ...(from === undefined ? {} : { from }) },
    sink: (lines) => {
      viewer.writeLines(lines);
      return viewer.drained();
    },
    signal: left.signal,
  });
}
