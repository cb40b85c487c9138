import { identitySchema } from "@holdfast/client/protocol";
import { readBounded, readJournal } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { errnoOf, probeLifeline } from "@holdfast/shared-process";
import type { EnvironmentScan, ProcessIdentity, ProcessObserver } from "@holdfast/shared-process";
import { SUPERVISOR_TITLE, operationKinds, sessionDirectory, verdictOf } from "@holdfast/session-worker/transport";
import { nullable, object, safeParse, string } from "zod/mini";
import { MAX_DESCRIPTOR_BYTES } from "./descriptor-files.ts";
import type { DescriptorRead } from "./descriptor-files.ts";
import { descriptorPath } from "./descriptor.ts";
import { compareHomes, runFolder } from "./home.ts";
import { GENERATION_NAME, HOME_NAME } from "./names.ts";
import { readOlder } from "./older/form.ts";
import type { OlderRecord } from "./older/form.ts";
import { proveOlder } from "./older/prove.ts";
import { canonical } from "./offline/discover.ts";
import { supervisedBy } from "./originals.ts";
import { heldByWorker, isWorker } from "./worker-process.ts";

/** Whether a process of a session lives whose record cannot be believed. `gone` is proof; everything else says what stands against it. */
export type Life = { readonly kind: "gone" } | { readonly kind: "alive" | "unknown"; readonly why: string };

export interface LifeParts {
  readonly home: string;
  readonly fs: FileSystem;
  readonly observer: ProcessObserver;
  /** Made before the records were read. */
  readonly scan: EnvironmentScan;
  readonly descriptors: readonly DescriptorRead[];
}

/** What is still legible of a damaged descriptor, who wrote the journal, who runs, and what is held: all must agree that nobody lives. */
export function lifeOf(parts: LifeParts, sessionId: string): Life {
  const found = [
    descriptorLife(parts, sessionId),
    journalLife(parts, sessionId, (identity) => isAnothers(parts, sessionId, identity)),
    scanLife(parts, sessionId),
    lifelineLife(parts),
  ];
  return (
    found.find(({ kind }) => kind === "alive") ??
    found.find(({ kind }) => kind === "unknown") ??
    ({ kind: "gone" } as const)
  );
}

const GONE = { kind: "gone" } as const;
const legibleSchema = object({ process: object({ identity: identitySchema, lifelinePath: nullable(string()) }) });

function descriptorLife(parts: LifeParts, sessionId: string): Life {
  const { home, fs, observer } = parts;
  const read = readBounded(fs, descriptorPath(home, sessionId), MAX_DESCRIPTOR_BYTES);
  if (read.kind !== "read") return GONE;
  const value = jsonOf(read.bytes);
  const older = readOlder(value, sessionId);
  if (older.kind === "older") return olderLife(observer, older.record);
  if (older.kind === "incomplete")
    return {
      kind: "unknown",
      why: "of an older form and incomplete, its descriptor may name a process that is its worker",
    };
  const legible = safeParse(legibleSchema, value);
  if (!legible.success) return GONE;
  const { process } = legible.data;
  if (isAnothers(parts, sessionId, process.identity)) return GONE;
  return judged(verdictOf(observer, process).kind, process.identity, "its descriptor names");
}

/** Why a start would not take up what an older record names; `null` where it proves enough. */
export function olderProblem(observer: ProcessObserver, record: OlderRecord): string | null {
  const proof = proveOlder(observer, record);
  return proof.kind === "quarantine" ? proof.reason : null;
}

function olderLife(observer: ProcessObserver, record: OlderRecord): Life {
  const proof = proveOlder(observer, record);
  if (proof.kind === "current") return judged(proof.kind, proof.identity, "its descriptor names");
  if (proof.kind !== "quarantine") return GONE;
  const who = record.named === null ? "a process" : `process ${record.named.pid}`;
  return { kind: "unknown", why: `of an older form, it may name ${who} that is its worker` };
}

/** The worker of another session or home, by what it says and holds itself: a record that was copied or misplaced names it (I147). */
function isAnothers({ home, fs, scan }: LifeParts, sessionId: string, { pid }: ProcessIdentity): boolean {
  const found = scan.processes.find(({ identity }) => identity.pid === pid);
  if (found?.command === SUPERVISOR_TITLE) {
    // It writes the journal of a session that has no worker now.
    return supervisedBy(fs, pid, home) === "another";
  }
  if (!found || !isWorker(found)) return false;
  const held = heldByWorker(found);
  if (held.place === "elsewhere") return true;
  if (compareHomes(fs, home, found.values[HOME_NAME] ?? "") === "another") return true;
  return held.place === "here" && held.sessionId !== null && held.sessionId !== sessionId;
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    // It names nobody: the other proofs decide.
    return null;
  }
}

/** The process that may still write the session: nothing takes its place beside it (I144). `isOfOthers`: of another home, or session. */
export function journalLife(
  { home, fs, observer }: Pick<LifeParts, "home" | "fs" | "observer">,
  sessionId: string,
  isOfOthers = (_identity: ProcessIdentity): boolean => false,
): Life {
  const report = readJournal(`${sessionDirectory(home, sessionId)}/journal`, operationKinds, fs);
  if (report.kind !== "ok" || report.released) return GONE;
  const identity = safeParse(identitySchema, report.owner.identity);
  if (!identity.success) return { kind: "unknown", why: "its journal does not say which process writes it" };
  if (isOfOthers(identity.data)) return GONE;
  const { kind } = verdictOf(observer, { identity: identity.data, lifelinePath: null });
  return judged(kind, identity.data, "its journal is written by");
}

function judged(kind: string, { pid }: ProcessIdentity, how: string): Life {
  if (kind === "gone" || kind === "replaced") return GONE;
  if (kind === "current") return { kind: "alive", why: `${how} process ${pid}, which runs` };
  return { kind: "unknown", why: `${how} process ${pid}, which cannot be observed` };
}

function scanLife({ home, scan, descriptors }: LifeParts, sessionId: string): Life {
  const named = new Set(descriptors.flatMap((read) => (read.kind === "descriptor" ? [keyOf(read)] : [])));
  const own = canonical(home);
  for (const found of scan.processes) {
    const { pid } = found.identity;
    const generation = found.values[GENERATION_NAME] ?? "";
    if (!isWorker(found) || canonical(found.values[HOME_NAME] ?? "") !== own || named.has(generation)) continue;
    const held = heldByWorker(found);
    if (held.place === "elsewhere") continue;
    if (held.place !== "here" || held.sessionId === null)
      return { kind: "unknown", why: `process ${pid} may be its worker` };
    if (held.sessionId === sessionId) return { kind: "alive", why: `process ${pid} is its worker` };
  }
  if (scan.kind === "complete") return GONE;
  return { kind: "unknown", why: `not all processes could be seen: ${scan.problem ?? "the scan was cut short"}` };
}

const keyOf = ({ descriptor }: Extract<DescriptorRead, { kind: "descriptor" }>): string =>
  descriptor.process.generation;

/** Also of workers in other pid namespaces, which no scan shows. */
function lifelineLife({ home, fs, descriptors }: LifeParts): Life {
  const named = new Set(
    descriptors.flatMap((read) => (read.kind === "descriptor" ? [read.descriptor.process.lifelinePath] : [])),
  );
  const held = workerLifelines(fs, home).find((path) => !named.has(path) && probeLifeline(path) === "held");
  return held === undefined ? GONE : { kind: "unknown", why: `${held} is held by a process that no record names` };
}

function workerLifelines(fs: FileSystem, home: string): string[] {
  try {
    const names = fs.readdir(runFolder(home));
    return names
      .filter((name) => /^(?!owner-|claim-).*\.alive$/.test(name))
      .map((name) => `${runFolder(home)}/${name}`);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    return [];
  }
}
