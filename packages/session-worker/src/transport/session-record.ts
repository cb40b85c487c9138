import { array, enum as oneOf, looseObject, nullable, number, object, optional, record, string } from "zod/mini";
import type { infer as Infer } from "zod/mini";

/** `<home>/sessions/<sessionId>/session.json`: what a session is, whether or not a worker runs. Written 0600 by the supervisor alone. */
export const sessionRecordSchema = looseObject({
  schemaVersion: number(),
  sessionId: string(),
  name: nullable(string()),
  agent: string(),
  cwd: string(),
  project: string(),
  /** Written before a spawn and before a stop. */
  wanted: oneOf(["running", "passive", "stopped", "archived"]),
  parentId: nullable(string()),
  createdAt: string(),
  lastActivityAt: string(),
  creatingRequest: looseObject({ requestId: string(), hash: string() }),
  /** Requests that took effect and whose answer is not yet in the home's journal, oldest first. */
  recentRequests: optional(array(object({ requestId: string(), hash: string() }))),
  /** The allow-listed part of the creating client's environment (CLI.md §3). */
  environment: record(string(), string()),
  /** Names of `--env` values: they live in memory only. */
  secretNames: array(string()),
  options: record(string(), string()),
  lastError: nullable(string()),
  /** Set while the session is failed, so that a failure without a process outlives the daemon too. */
  failure: optional(
    nullable(looseObject({ code: oneOf(["session_failed", "needs_fresh_environment"]), reason: string() })),
  ),
  /** Recovery launches inside the budget's window: here, since one that cannot be spawned has no worker record to stand in. */
  launches: optional(array(object({ bootId: nullable(string()), at: number() }))),
  /** Stop intents that stood as bare names when this was written, and that it replaces: they count no more, should they still be there. */
  overtaken: optional(array(string())),
});
export type SessionRecord = Infer<typeof sessionRecordSchema>;
export type Wanted = SessionRecord["wanted"];

export const sessionDirectory = (home: string, sessionId: string): string => `${home}/sessions/${sessionId}`;
export const sessionRecordPath = (home: string, sessionId: string): string =>
  `${sessionDirectory(home, sessionId)}/session.json`;
