export type { FileSystem } from "./file-system.ts";
export { nodeFileSystem } from "./node-file-system.ts";
export { ensurePrivateDirectory, ensurePrivateDirectoryAsync } from "./durable/private-directory.ts";
export { publishFile, type PublishResult } from "./durable/publish-file.ts";
export { removeTree } from "./durable/remove-tree.ts";
export { isInPlace, mayBeInPlace, type OutcomeCode, stepError, systemErrnoOf } from "./durable/outcome.ts";
export { replaceFile, replaceFileAsync } from "./durable/replace-file.ts";
export { type BoundedRead, createMarkerFile, readBounded, readPatiently, removeFile } from "./durable/small-files.ts";
export { syncDirectory, syncDirectoryAsync } from "./durable/sync-directory.ts";
export { isDiskFull } from "./durable/write-all.ts";
export { decodeLine, encodeLine } from "./format/line.ts";
export type { JournalErrorCode } from "./journal/errors.ts";
export { openJournal } from "./journal/open.ts";
export { type Damage, quarantineJournal, type QuarantineOptions, type QuarantineResult } from "./journal/quarantine.ts";
export { digestOf } from "./journal/evidence.ts";
export { readJournal } from "./journal/read.ts";
export { removeJournal } from "./journal/remove.ts";
export { type LegacyReport, type LegacyWork, readLegacyJournal } from "./legacy/read-legacy.ts";
export type { LegacyOperation, LegacySession } from "./legacy/scan-legacy.ts";
export { findLine } from "./lines/find-line.ts";
export { lastLine } from "./lines/last-line.ts";
export { type LineLog, openLineLog } from "./lines/line-log.ts";
export { rewriteLines } from "./lines/rewrite-lines.ts";
export { type LogLine, readLines } from "./lines/read-lines.ts";
export type { SegmentLine } from "./view/segment-lines.ts";
export { type JournalView, viewJournal } from "./view/view-journal.ts";
export type {
  BeginRequest,
  Journal,
  JournalEngine,
  JournalOwner,
  JournalReport,
  JsonObject,
  JsonValue,
  OpenJournalOptions,
  OpenJournalResult,
  OpenOperation,
  OperationKey,
  OperationToken,
  Quarantine,
  RememberedRequest,
} from "./types.ts";
