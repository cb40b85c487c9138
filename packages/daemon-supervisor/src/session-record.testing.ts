import { nodeFileSystem } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { sessionDirectory } from "@holdfast/session-worker/transport";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { Catalog } from "./catalog.ts";

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

/** Makes a session, as the owner of the home does. */
export async function makeSession(home: string, record: SessionRecord, fs: FileSystem = nodeFileSystem): Promise<void> {
  const catalog = new Catalog(home, fs);
  fs.mkdir(sessionDirectory(home, record.sessionId), 0o700);
  await catalog.create(record);
}
