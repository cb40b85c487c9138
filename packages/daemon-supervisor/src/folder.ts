import { ProtocolError } from "@holdfast/client/protocol";
import { sessionDirectory } from "@holdfast/session-worker/transport";
import type { Context } from "./effects/context.ts";

/** Said at once: where somebody removed a session's folder nothing of it can be written, however often it is tried. */
export function requireFolder({ home, fs }: Pick<Context, "home" | "fs">, sessionId: string): void {
  const directory = sessionDirectory(home, sessionId);
  if (fs.exists(directory)) return;
  throw new ProtocolError("file_not_found", `the session's folder is gone: ${directory}`, {
    hint: "agent doctor tells the way out",
  });
}
