import { ProtocolError } from "@holdfast/client/protocol";
import { ensurePrivateDirectory, removeFile, syncDirectory } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { reasonOf } from "@holdfast/shared-process";
import { sessionDirectory, transcriptPath } from "@holdfast/session-worker/transport";
import { bareIntentOf, readWorkerFiles, sortNames } from "../descriptor-files.ts";
import { descriptorPath } from "../descriptor.ts";
import { damagedFolder, sessionsFolder, timeInName, workersFolder } from "../home.ts";
import { lifeOf } from "../life.ts";
import type { Life } from "../life.ts";
import { scanHoldfast } from "../offline/discover.ts";
import { notePath } from "../quarantined.ts";
import { withRequest } from "../records.ts";
import type { RepairOrder } from "./repair.ts";
import type { Services } from "./services.ts";

/** A quarantined session rests `stopped`, as soon as nothing of it lives; its damaged descriptor is kept beside, as evidence. */
export async function release(services: Services, { sessionId, asserted, stamp }: RepairOrder): Promise<string> {
  const { context, records } = services;
  const { home, fs, catalog } = context;
  const why = catalog.quarantined.get(sessionId);
  if (why === undefined) return "it is not quarantined";
  if (catalog.isUnreadable(sessionId)) throw refused(`${why}: its files can only be moved aside`);
  refuseLiving(lifeHere(services, sessionId), asserted);
  // First what keeps it from being launched: until the descriptor goes it is quarantined, at any start.
  const record = catalog.get(sessionId);
  if (record) {
    const known = sortNames(readWorkerFiles(fs, home).intents.get(sessionId)?.paths ?? [], record);
    // No start has looked at them: they are settled by this, like its descriptor, and must not stop what is resumed later (I6).
    records.knownIntents(sessionId, known);
    const isArchived = record.wanted === "archived" || bareIntentOf(known.standing)?.intent.goal === "archive";
    const wanted = isArchived ? "archived" : "stopped";
    // Before the record has the request: a repeat of one that was cut short finds it there, and does nothing more.
    await freeFiles(services, sessionId);
    await records.rest(sessionId, (now) => ({ ...withRequest(now, stamp), wanted }));
  }
  const kept = `${descriptorPath(home, sessionId)}.damaged-${timeInName(context.clock.now())}`;
  const isKept = renameIfThere(fs, descriptorPath(home, sessionId), kept);
  removeFile(fs, notePath(home, sessionId));
  syncDirectory(fs, workersFolder(home));
  catalog.quarantined.delete(sessionId);
  const told = record ? "it rests, stopped" : "there is no such session any more";
  return isKept ? `${told}; its descriptor is kept as ${kept}` : told;
}

/**
 * The last writer is gone, by proof or by a person's word, which a worker to come could not tell. Where this fails the first resume does,
 * and no more; in a copy that was made of hard links the files are the original's, which goes on writing them.
 */
async function freeFiles({ context: { home, fs, log }, ender }: Services, sessionId: string): Promise<void> {
  const directory = sessionDirectory(home, sessionId);
  const transcript = transcriptPath(directory);
  try {
    if (!fs.exists(`${directory}/journal`)) return;
    if (fs.exists(transcript) && fs.lstat(transcript).nlink > 1n) return;
    await ender.settleRested(sessionId);
  } catch (error) {
    log.warn({ sessionId, reason: reasonOf(error) }, "the files of a released session could not be settled");
  }
}

/** A session that nobody can read goes to `<home>/damaged`, with every file that names it; nothing is deleted. */
export async function setAside(services: Services, { sessionId, asserted }: RepairOrder): Promise<string> {
  const { context, requests } = services;
  const { home, fs, catalog, clock } = context;
  if (!catalog.isUnreadable(sessionId)) throw refused("its record can be read: agent session delete is for such");
  refuseLiving(lifeHere(services, sessionId), asserted);
  // First: once it is away nobody else knows that it was made.
  const creator = catalog.creatorOf(sessionId);
  if (creator && !(await requests.remember(creator.requestId, { hash: creator.hash, sessionId, answer: null })))
    throw refused("what made it could not be remembered");
  const target = `${damagedFolder(home)}/${sessionId}-${timeInName(clock.now())}`;
  ensurePrivateDirectory(fs, target);
  for (const name of fs.readdir(workersFolder(home)).filter((entry) => entry.startsWith(sessionId)))
    renameIfThere(fs, `${workersFolder(home)}/${name}`, `${target}/${name}`);
  // Last: while its name is there the session is found, and this can be asked for again.
  renameIfThere(fs, sessionDirectory(home, sessionId), `${target}/session`);
  for (const folder of [target, damagedFolder(home), workersFolder(home), sessionsFolder(home)])
    syncDirectory(fs, folder);
  catalog.forgetUnreadable(sessionId);
  return `its files are in ${target}`;
}

/** Whether anything of a session lives, by all that can be seen from here. */
export function lifeHere({ context: { home, fs, observer } }: Services, sessionId: string): Life {
  const scan = scanHoldfast();
  return lifeOf({ home, fs, observer, scan, descriptors: readWorkerFiles(fs, home).descriptors }, sessionId);
}

function refuseLiving(life: Life, asserted: boolean): void {
  if (life.kind === "alive") throw new ProtocolError("session_running", `nothing was changed: ${life.why}`);
  if (life.kind === "gone" || asserted) return;
  throw new ProtocolError("worker_identity_unknown", `nothing was changed: ${life.why}`, {
    hint: "agent doctor tells what to assert",
  });
}

const refused = (why: string): ProtocolError => new ProtocolError("usage", `nothing was changed: ${why}`);

function renameIfThere(fs: FileSystem, source: string, target: string): boolean {
  if (!fs.exists(source)) return false;
  fs.rename(source, target);
  return true;
}
