import type { SessionEvent } from "@holdfast/client/protocol";

export interface Write {
  readonly to: "stdout" | "stderr";
  readonly data: string | Buffer;
}
/** `prompt`: the answer alone. `viewer`: how its turns ended too. */
export type View = "prompt" | "viewer";

const out = (data: string | Buffer): Write[] => [{ to: "stdout", data }];
export const note = (text: string): Write[] => [{ to: "stderr", data: `· ${text}\n` }];

/** An event as people read it. Output and text are byte for byte what the agent wrote (I150); all else is a notice. */
export function renderEvent(event: SessionEvent, view: View): readonly Write[] {
  switch (event.type) {
    case "output":
      return [{ to: event.stream, data: outputBytes(event) }];
    case "message":
      return out(event.text);
    case "thought":
      return view === "viewer" ? note(event.text) : [];
    case "turn_ended":
      return view === "viewer" ? turnEnded(event.stopReason, event.exitCode) : [];
    case "tool":
      return note(`${event.title}: ${event.status}`);
    case "permission_requested":
      return note(`needs a permission: ${event.title} (agent permissions answer ${event.id} --once)`);
    case "permission_resolved":
      return note(`permission ${event.outcome}`);
    case "interrupted":
      return note(`interrupted: ${event.operations.map(({ title }) => title).join(", ") || "a turn"}`);
    case "action_cancelled":
      return note(`will not run: ${event.reason}`);
    case "state":
      return note(`session ${event.state}${event.reason ? `: ${event.reason}` : ""}`);
    case "restored":
      return note(event.notice ?? `restored by ${event.by}`);
    case "gap":
      return note(`a part of the transcript is missing here: ${event.reason}`);
    case "agent_message":
      return view === "viewer" ? out(`${event.from}: ${event.text}\n`) : note(`${event.from}: ${event.text}`);
    case "child":
      return note(`child ${event.childId}: ${event.status}`);
    case "steer":
      return note(`steer: ${event.outcome}`);
    case "prompt_accepted":
    case "session":
    case "turn_started":
      return [];
    default:
      // A type of a later daemon (I26).
      return [];
  }
}

/** `bytes` stands beside a text that could not hold the output. */
export const outputBytes = ({ text, bytes }: { text: string; bytes?: string }): string | Buffer =>
  bytes === undefined ? text : Buffer.from(bytes, "base64");

function turnEnded(stopReason: string, exitCode: number | undefined): Write[] {
  if (stopReason !== "end_turn") return note(`turn ${stopReason}`);
  return exitCode === undefined || exitCode === 0 ? [] : note(`exit ${exitCode}`);
}
