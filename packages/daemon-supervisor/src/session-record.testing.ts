import type { SessionRecord } from "@holdfast/session-worker/transport";

/** A session's record, for tests that need one of no matter which. */
export const sessionRecordOf = (sessionId: string, more: Partial<SessionRecord> = {}): SessionRecord => ({
  schemaVersion: 1,
  sessionId,
  name: null,
  agent: "shell",
  cwd: "/",
  project: "/",
  wanted: "running",
  parentId: null,
  createdAt: "",
  lastActivityAt: "",
  creatingRequest: { requestId: "new", hash: "h" },
  environment: {},
  secretNames: [],
  options: {},
  lastError: null,
  failure: null,
  ...more,
});
