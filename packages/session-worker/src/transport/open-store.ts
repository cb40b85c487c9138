import { operationKinds } from "./operation-kinds.ts";
import { nodeFileSystem, openJournal } from "@holdfast/recovery-journal";
import type { FileSystem, JournalOwner } from "@holdfast/recovery-journal";
import { CodedError, errnoOf, reasonOf, systemClock, systemIds } from "@holdfast/shared-process";
import type { Clock, Ids } from "@holdfast/shared-process";
import { OpenedStore } from "./session-store.ts";
import type { OpenStoreResult } from "./store-contract.ts";
import { transcriptAt, transcriptPath } from "./transcript-file.ts";
import { TranscriptWriter } from "./transcript-writer.ts";

export interface OpenStoreOptions {
  /** The session's directory, which exists. */
  readonly directory: string;
  readonly sessionId: string;
  readonly owner: JournalOwner;
  readonly probeOwner: (owner: JournalOwner) => "gone" | "current" | "unknown";
  readonly engine: "inline" | "pool";
  /** `existing`: a missing journal fails closed. Default `any`. */
  readonly expect?: "any" | "existing";
  readonly fs?: FileSystem;
  readonly ids?: Ids;
  readonly clock?: Clock;
  /** By default the clock's. */
  readonly now?: () => number;
}

/** What no other start changes, a person has to decide. */
const WAY_OUT = "; agent doctor tells the way out";

/**
 * Claims a session's files for one writer (I144). The journal decides; the transcript is touched only behind it. An
 * unresolved quarantine is as good as the damage itself: what was accepted, and what ran, is not known, so nothing is served
 * (I71, I81). Throws as `openJournal`.
 */
export async function openSessionStore(options: OpenStoreOptions): Promise<OpenStoreResult> {
  const { directory, owner, engine, fs = nodeFileSystem, clock = systemClock, now = () => clock.now() } = options;
  const opened = await openJournal({
    directory: `${directory}/journal`,
    owner,
    kinds: operationKinds,
    probeOwner: options.probeOwner,
    engine,
    fs,
    clock,
    now,
    ...(options.expect ? { expect: options.expect } : {}),
  });
  if (opened.kind === "owned") return { kind: "owned" };
  if (opened.kind === "refused") {
    // An error of the disk says nothing about the bytes: the next try may read them.
    const mayPass = opened.why === "unreadable";
    return { kind: "refused", reason: `${opened.path}: ${opened.message}${mayPass ? "" : WAY_OUT}`, mayPass };
  }
  const { journal, report } = opened;
  const [quarantine] = journal.quarantines();
  if (quarantine !== undefined) {
    await journal.close();
    const { id, why, evidence } = quarantine;
    const where = evidence === null ? "" : `, kept as ${evidence}`;
    return {
      kind: "refused",
      reason: `${directory}/journal: quarantine ${id} (${why}${where}) is not resolved${WAY_OUT}`,
      mayPass: false,
    };
  }
  let writer: TranscriptWriter | null = null;
  try {
    const path = transcriptPath(directory);
    writer = new TranscriptWriter({
      path,
      sessionId: options.sessionId,
      generation: owner.generation,
      fs,
      engine,
      now,
    });
    const remembers = report.kind === "ok" && report.remembered.length > 0;
    const store = new OpenedStore({
      journal,
      writer,
      file: transcriptAt(path, fs),
      generation: owner.generation,
      ids: options.ids ?? systemIds,
      remembers,
    });
    await store.restore();
    return { kind: "opened", store };
  } catch (error) {
    writer?.[Symbol.dispose]();
    await journal.close();
    // Nothing that passes by itself, unlike an error of the disk.
    if (isNoTranscript(error)) return { kind: "refused", reason: `${reasonOf(error)}${WAY_OUT}`, mayPass: false };
    throw error;
  }
}

const NO_FILE: ReadonlySet<unknown> = new Set(["EISDIR", "ELOOP", "ENOTDIR", "ENXIO", "EACCES", "EPERM"]);

/** Whether something else is in a transcript's place, or this user may not read and write it. */
const isNoTranscript = (error: unknown): boolean =>
  NO_FILE.has(errnoOf(error)) || (error instanceof CodedError && error.code === "not_a_file");
