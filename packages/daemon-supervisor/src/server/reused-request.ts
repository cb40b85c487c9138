import { ProtocolError } from "@holdfast/client/protocol";

export const reusedRequest = (requestId: string): ProtocolError =>
  new ProtocolError("request_id_reused", `request ${requestId} was used for something else`, {
    hint: "use a new --request-id, or none",
  });
