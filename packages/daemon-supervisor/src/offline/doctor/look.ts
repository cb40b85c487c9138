import { existsSync, readdirSync } from "node:fs";
import { VERSION } from "@holdfast/client/protocol";
import type { SessionRow } from "@holdfast/client/protocol";
import { nodeFileSystem, readBounded, readJournal } from "@holdfast/recovery-journal";
import type { FileSystem, JournalReport } from "@holdfast/recovery-journal";
import { createObserver, errnoOf, probeLifeline, reasonOf, systemClock } from "@holdfast/shared-process";
import type { ProcessObserver } from "@holdfast/shared-process";
import { epochsOf, operationKinds, sessionDirectory, sessionRecordPath } from "@holdfast/session-worker/transport";
import { readAllSessions } from "../../session-record-file.ts";
import type { RecordRead } from "../../session-record-file.ts";
import { readWorkerFiles } from "../../descriptor-files.ts";
import type { DescriptorRead, WorkerFiles } from "../../descriptor-files.ts";
import { descriptorPath } from "../../descriptor.ts";
import { requestsFolder, trustPath } from "../../home.ts";
import { lifeOf, olderProblem } from "../../life.ts";
import type { LifeParts } from "../../life.ts";
import { lookAtTrusted, readTrust } from "../../trust-list.ts";
import { verdictOf } from "@holdfast/session-worker/transport";
import { canonical } from "../discover.ts";
import { survey } from "../survey.ts";
import type { Survey } from "../survey.ts";
import { askDaemon } from "./answer.ts";
import { transcriptFault } from "./look-transcript.ts";
import { misplacedIn, unsafeBelow } from "./modes.ts";
import type { Answer, Seen, SeenSession, SeenTrust } from "./seen.ts";

type Attempt = <T>(subject: string, look: () => T, otherwise: T) => T;

/** Looks at everything of a home, processes first, and changes nothing. What cannot be looked at says so, and fails nothing else. */
export async function lookAt(home: string, fs: FileSystem = nodeFileSystem): Promise<Seen> {
  const unseen: Seen["unseen"][number][] = [];
  const unread = (subject: string, error: unknown): void => {
    if (unseen.some((known) => known.subject === subject)) return;
    unseen.push({ subject, reason: reasonOf(error), denied: isDenial(errnoOf(error)) });
  };
  const attempt: Attempt = (subject, look, otherwise) => {
    try {
      return look();
    } catch (error) {
      unread(subject, error);
      return otherwise;
    }
  };
  const surveyed = survey(home);
  const { scan, homes, orphans } = surveyed;
  if (scan.kind === "incomplete")
    unseen.push({ subject: "processes", reason: scan.problem ?? "not all could be listed", denied: false });
  const view = homes[0];
  const owner = view?.owner ?? { kind: "none" };
  const answer = await askDaemon(home, owner).catch((error: unknown): Answer => {
    unread("the daemon", error);
    return { kind: "none" };
  });
  const observer = createObserver({ mode: "narrow" });
  const own = canonical(home);
  return {
    home,
    owner,
    epoch: attempt(`${home}/owner`, () => epochsOf(fs, home)[0] ?? null, null),
    answer,
    lost: (view?.lost ?? []).map(({ identity }) => identity.pid),
    requests: attempt<JournalReport>(requestsFolder(home), () => readJournal(requestsFolder(home), []), {
      kind: "fresh",
    }),
    trust: attempt<SeenTrust>(trustPath(home), () => trustOf(fs, home), { kind: "list", directories: [] }),
    requestsAside: attempt(home, () => requestsAside(home), []),
    // What belongs to no home that is known may be of another one: `agent ps` lists it.
    orphans: orphans.filter(({ home: of }) => of !== null && canonical(of) === own),
    unsafe: attempt(home, () => [...misplacedIn(home), ...unsafeBelow(home, { unread })], []),
    unwritable: view?.unwritable ?? [],
    capabilities: attempt("this machine", () => observer.capabilities(), null),
    sessions: sessionsOf({ home, fs, observer, surveyed, answer, attempt }),
    unseen,
    version: VERSION,
    now: systemClock.now(),
  };
}

function trustOf(fs: FileSystem, home: string): SeenTrust {
  const list = readTrust(fs, trustPath(home));
  return list.kind === "list"
    ? { kind: "list", directories: lookAtTrusted(list.directories) }
    : { kind: list.kind, reason: list.error.message };
}

const requestsAside = (home: string): string[] =>
  existsSync(home)
    ? readdirSync(home)
        .filter((name) => name.startsWith("journal.damaged-"))
        .map((name) => `${home}/${name}`)
    : [];

interface Looking {
  readonly home: string;
  readonly fs: FileSystem;
  readonly observer: ProcessObserver;
  readonly surveyed: Survey;
  readonly answer: Answer;
  readonly attempt: Attempt;
}

function sessionsOf(looking: Looking): SeenSession[] {
  const { home, fs, observer, surveyed, answer, attempt } = looking;
  const files = attempt<WorkerFiles | null>(`${home}/workers`, () => readWorkerFiles(fs, home), null);
  const reads = attempt<RecordRead[] | null>(`${home}/sessions`, () => readAllSessions(fs, home), null);
  // A list that failed is not an empty one: nothing is judged by what is missing in it (I117).
  if (files === null || reads === null) return [];
  const records = new Map(reads.map((read) => [idOf(read), read]));
  const descriptors = new Map(files.descriptors.map((read) => [read.sessionId, read]));
  const rows = new Map(answer.kind === "answers" ? answer.rows.map((row) => [row.sessionId, row]) : []);
  const parts: LifeParts = { home, fs, observer, scan: surveyed.scan, descriptors: files.descriptors };
  const ids = [...records.keys(), ...descriptors.keys(), ...files.intents.keys(), ...rows.keys()];
  return [...new Set(ids)].flatMap((sessionId) => {
    const known = {
      read: records.get(sessionId),
      descriptor: descriptors.get(sessionId),
      intents: files.intents.get(sessionId)?.paths ?? [],
      row: rows.get(sessionId) ?? null,
    };
    return attempt(sessionId, () => [sessionOf(sessionId, known, parts)], []);
  });
}

const idOf = (read: RecordRead): string => (read.kind === "record" ? read.record.sessionId : read.sessionId);

interface Known {
  readonly read: RecordRead | undefined;
  readonly descriptor: DescriptorRead | undefined;
  readonly intents: readonly string[];
  readonly row: SessionRow | null;
}

function sessionOf(sessionId: string, { read, descriptor, intents, row }: Known, parts: LifeParts): SeenSession {
  const { home, fs, observer } = parts;
  const journal = readJournal(`${sessionDirectory(home, sessionId)}/journal`, operationKinds, fs);
  const isSound =
    read?.kind === "record" &&
    (descriptor === undefined || descriptor.kind === "descriptor") &&
    row?.state !== "quarantined" &&
    (journal.kind === "fresh" || (journal.kind === "ok" && journal.quarantines.length === 0));
  return {
    sessionId,
    record: read ?? null,
    descriptor: descriptor === undefined ? null : seenDescriptor(descriptor, observer),
    intents,
    denied: [
      ...(read?.kind === "unreadable" && isDenial(read.errno)
        ? [`${sessionRecordPath(home, sessionId)}: ${read.errno}`]
        : []),
      ...(descriptor?.kind === "damaged" ? deniedAt(fs, descriptorPath(home, sessionId)) : []),
    ],
    journal,
    transcript: transcriptFault(fs, home, sessionId),
    life: isSound ? { kind: "gone" } : lifeOf(parts, sessionId),
    row,
  };
}

const isDenial = (errno: unknown): boolean => errno === "EACCES" || errno === "EPERM";

function deniedAt(fs: FileSystem, path: string): string[] {
  const read = readBounded(fs, path, 0);
  return read.kind === "unreadable" && isDenial(read.errno) ? [`${path}: ${read.errno}`] : [];
}

/** Of an older form, what a start of the daemon would not take up is said now; the rest is for that start. */
function seenDescriptor(read: DescriptorRead, observer: ProcessObserver): SeenSession["descriptor"] {
  if (read.kind === "damaged") return { damaged: read.reason };
  if (read.kind === "older") {
    const problem = olderProblem(observer, read.record);
    return problem === null ? null : { damaged: problem, isOlder: true };
  }
  const { process } = read.descriptor;
  const held = process.lifelinePath !== null && probeLifeline(process.lifelinePath) === "held";
  return { descriptor: read.descriptor, verdict: verdictOf(observer, process), held };
}
