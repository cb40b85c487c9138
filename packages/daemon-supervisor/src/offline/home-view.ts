import { statSync } from "node:fs";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { createObserver, reasonOf } from "@holdfast/shared-process";
import type { FoundProcess, ProcessObserver, Verdict } from "@holdfast/shared-process";
import { verdictOf } from "@holdfast/session-worker/transport";
import type { Descriptor } from "../descriptor.ts";
import { readWorkerFiles, standingIntents } from "../descriptor-files.ts";
import type { DescriptorRead, WorkerFiles } from "../descriptor-files.ts";
import { OLDER_FORM } from "../older/form.ts";
import { supervisedBy } from "../originals.ts";
import { readSummaries } from "../session-index/read-index.ts";
import type { SessionSummary } from "../session-index/row.ts";
import type { RecordRead } from "../session-record-file.ts";
import { ownerState } from "./owner.ts";
import type { OfflineOwner } from "./owner.ts";
import type { Retained } from "./retained.ts";
import { unwritableIn } from "./unwritable.ts";
import type { Unwritable } from "./unwritable.ts";

/** A descriptor that could be read, and what the kernel says of the process that it names. */
export interface WorkerView {
  readonly sessionId: string;
  readonly descriptor: Descriptor;
  readonly verdict: Verdict["kind"];
  readonly record: SessionSummary | null;
}

/** One home by its records and the kernel, whether or not its daemon lives. */
export interface HomeView {
  readonly home: string;
  readonly owner: OfflineOwner;
  /** Supervisors that hold a lifeline of this home and are not the owner that its records name. */
  readonly lost: readonly FoundProcess[];
  readonly workers: readonly WorkerView[];
  /** Records that a person has to decide about: never acted upon. */
  readonly quarantined: readonly { readonly sessionId: string; readonly reason: string }[];
  /** Sessions of which only the bare name of a stop is left. */
  readonly bare: readonly string[];
  /** Read only where a process runs that nothing else explains. */
  readonly retained: readonly Retained[];
  readonly sessionCount: number;
  /** Where nothing can be written now. */
  readonly unwritable: readonly Unwritable[];
  /** What could not be read. While there is something, what was not found may exist all the same (I117). */
  readonly problems: readonly string[];
}

/** Never throws: a home that cannot be read says so in `problems` (I104). `holders`: supervisors that hold its lifeline. */
export function viewHome(
  home: string,
  holders: readonly FoundProcess[],
  observer = createObserver({ mode: "narrow", library: "for-signals" }),
): HomeView {
  const problems: string[] = [];
  const attempt = <T>(read: () => T, otherwise: T): T => {
    try {
      return read();
    } catch (error) {
      problems.push(`${home}: ${reasonOf(error)}`);
      return otherwise;
    }
  };
  const owner = ownerOf(home, observer);
  if (owner.kind === "unknown") problems.push(`${home}: ${owner.why}`);
  const files = attempt<WorkerFiles>(() => readWorkerFiles(nodeFileSystem, home), {
    descriptors: [],
    intents: new Map(),
  });
  const intents = attempt(() => standingIntents(nodeFileSystem, home, files), files.intents);
  const listed = attempt<RecordRead<SessionSummary>[] | null>(() => readSummaries(nodeFileSystem, home), null);
  const reads = listed ?? [];
  const unreadable = new Map(reads.flatMap((read) => (read.kind === "record" ? [] : [[read.sessionId, read.reason]])));
  const records = new Map(
    reads.flatMap((read) => (read.kind === "record" ? [[read.record.sessionId, read.record]] : [])),
  );
  const { workers, quarantined } = sort(files, {
    records,
    observer,
    whyNone: (sessionId) => unreadable.get(sessionId) ?? (listed === null ? UNLISTED : NO_RECORD),
  });
  for (const read of files.descriptors)
    if (read.kind !== "descriptor") problems.push(`${home}: ${read.sessionId}: ${whyKept(read)}`);
  return {
    home,
    owner,
    lost: holders.filter(({ identity }) => !isOwner(owner, identity)),
    workers,
    quarantined,
    bare: [...intents.keys()].filter((id) => !files.descriptors.some(({ sessionId }) => sessionId === id)),
    retained: [],
    sessionCount: reads.filter((read) => read.kind === "unreadable" || read.record.wanted !== "archived").length,
    unwritable: unwritableIn(home),
    problems,
  };
}

const NO_RECORD = "it has a worker record but no session record";
const UNLISTED = "its session record could not be looked for";

/** A number that only an older form names is looked at by daemons alone, which prove it and write it down (I90). */
const whyKept = (read: Exclude<DescriptorRead, { kind: "descriptor" }>): string =>
  read.kind === "damaged" ? read.reason : OLDER_FORM;

interface Sorting {
  readonly records: ReadonlyMap<string, SessionSummary>;
  readonly observer: ProcessObserver;
  /** Of a session without a record that can be read. */
  readonly whyNone: (sessionId: string) => string;
}

function sort(
  { descriptors }: WorkerFiles,
  { records, observer, whyNone }: Sorting,
): Pick<HomeView, "workers" | "quarantined"> {
  const workers: WorkerView[] = [];
  const quarantined: { sessionId: string; reason: string }[] = [];
  for (const read of descriptors) {
    const { sessionId } = read;
    if (read.kind !== "descriptor") {
      quarantined.push({ sessionId, reason: whyKept(read) });
      continue;
    }
    const { descriptor } = read;
    const record = records.get(sessionId) ?? null;
    const verdict = verdictOf(observer, descriptor.process).kind;
    const { pid } = descriptor.process.identity;
    const runs = verdict === "current" ? `; its worker, process ${pid}, runs on` : "";
    if (record === null) quarantined.push({ sessionId, reason: `${whyNone(sessionId)}${runs}` });
    workers.push({ sessionId, descriptor, record, verdict });
  }
  return { workers, quarantined };
}

/** A copied home carries the record of the original, whose daemon is not the copy's (I147). */
function ownerOf(home: string, observer: ProcessObserver): OfflineOwner {
  let owner: OfflineOwner;
  try {
    owner = ownerState(home, observer);
  } catch (error) {
    return { kind: "unknown", why: reasonOf(error), record: null };
  }
  if (owner.kind !== "alive") return owner;
  const { record } = owner;
  const supervised = supervisedBy(nodeFileSystem, record.identity.pid, home);
  // Its home may have been moved since it was claimed.
  if (supervised === "this") return { ...owner, record: { ...record, home } };
  const isNamed = !isAnotherHome(record.home, home);
  if (supervised === null && isNamed) return owner;
  const original = isNamed ? "another home, which has or had this path" : record.home;
  return { kind: "unknown", why: `its owner record is a copy of that of ${original}`, record };
}

function isAnotherHome(named: string, home: string): boolean {
  if (named === home) return false;
  const [other, own] = [named, home].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return other !== undefined && own !== undefined && (other.dev !== own.dev || other.ino !== own.ino);
}

const isOwner = (owner: OfflineOwner, { pid, startTicks }: FoundProcess["identity"]): boolean =>
  "record" in owner && owner.record?.identity.pid === pid && owner.record.identity.startTicks === startTicks;

export const mayLive = ({ verdict }: WorkerView): boolean => verdict === "current" || verdict === "unknown";
