import { ProtocolError } from "@holdfast/client/protocol";
import { freshValues } from "../effects/context.ts";
import type { Services } from "./services.ts";

/** Brings a passivated session back for a request that needs it. Stopped and archived ones wait for an explicit resume (I129). */
export function wake({ context }: Services, sessionId: string): void {
  const { registry, catalog } = context;
  const record = catalog.get(sessionId);
  if (!record) return;
  const newest = registry.newest(sessionId);
  if (newest === null) {
    if (record.wanted === "stopped")
      throw new ProtocolError("session_stopped", "the session is stopped", {
        hint: `agent session resume ${sessionId}`,
      });
    if (record.wanted === "archived")
      throw new ProtocolError("session_archived", "the session is archived", {
        hint: `agent session resume ${sessionId}`,
      });
    return;
  }
  // What is shown may be older: of a stop that has come meanwhile only a person may make something else (I129).
  if (newest.name !== "passivated") return;
  const decision = registry.dispatch(sessionId, {
    type: "resume",
    by: "resume",
    fresh: freshValues(context, sessionId),
  });
  if (decision.kind === "deny")
    throw new ProtocolError(decision.code, decision.why, { hint: `agent session resume ${sessionId}` });
}
