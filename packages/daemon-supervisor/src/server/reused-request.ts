import { ProtocolError } from "@holdfast/client/protocol";

export const reusedRequest = (requestId: string): ProtocolError =>
  new ProtocolError("request_id_reused", `request ${requestId} was used for something else`, {
    hint: "use a new --request-id, or none",
  });

/** To a repeat of what made a session that was damaged, and that a person moved aside. */
export const movedAside = (sessionId: string): ProtocolError =>
  new ProtocolError("session_not_found", `session ${sessionId}, which this request made, was moved aside as damaged`, {
    hint: "its files are in damaged/ in the home; use a new --request-id, or none, for a new session",
  });
