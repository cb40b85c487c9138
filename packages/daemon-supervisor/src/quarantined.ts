import { ProtocolError } from "@holdfast/client/protocol";

export const sessionQuarantined = (sessionId: string, why: string): ProtocolError =>
  new ProtocolError("session_quarantined", `session ${sessionId} is quarantined: ${why}`, {
    hint: "agent doctor tells the way out; its files are left as they are",
  });
