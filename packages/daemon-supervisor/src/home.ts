import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { ensurePrivateDirectory, nodeFileSystem } from "@holdfast/recovery-journal";
import { longestAside } from "@holdfast/session-worker/transport";
import type { FileSystem } from "@holdfast/recovery-journal";
import { errnoOf, socketPathFits } from "@holdfast/shared-process";
import { ProtocolError } from "@holdfast/client/protocol";

/** The folders of a home (DESIGN §4). All 0700, whatever the umask. */
export const homeFolders = ["owner", "workers", "sessions", "run", "logs"] as const;

export const workersFolder = (home: string): string => `${home}/workers`;
export const sessionsFolder = (home: string): string => `${home}/sessions`;
export const indexPath = (home: string): string => `${sessionsFolder(home)}/index`;
/** Requests of supervisor scope: hash and outcome. */
export const requestsFolder = (home: string): string => `${home}/journal`;
/** Kept as evidence, under the time at which it was found damaged. */
export const damagedRequestsFolder = (home: string, at: number): string => `${home}/journal.damaged-${timeInName(at)}`;
export const timeInName = (at: number): string => new Date(at).toISOString().replaceAll(":", "");
/** Sessions that nobody could read, moved aside by a person's decision. */
export const damagedFolder = (home: string): string => `${home}/damaged`;
export const runFolder = (home: string): string => `${home}/run`;
/** The directories that are trusted. */
export const trustPath = (home: string): string => `${home}/trust.json`;
export const logsFolder = (home: string): string => `${home}/logs`;
export const lifelinePath = (home: string, name: string): string => `${home}/run/${name}.alive`;

/** Where a lifeline that a record names is if it is this home's: it goes along when the home is moved. */
export const ownLifeline = (home: string, recorded: string): string => `${runFolder(home)}/${basename(recorded)}`;

/** Whether a directory is this home under whatever name, or another one. `gone`: it is none; this home may have been moved from there. */
export function compareHomes(fs: FileSystem, home: string, named: string): "same" | "another" | "gone" | "unknown" {
  if (named === home) return "same";
  try {
    fs.lstat(`${named}/workers`);
    // By what they are, behind whatever links.
    const [one, other] = [fs.lstat(`${named}/.`), fs.lstat(`${home}/.`)];
    return one.ino === other.ino && one.dev === other.dev ? "same" : "another";
  } catch (error) {
    return errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR" ? "gone" : "unknown";
  }
}

/** Tells homes apart in names that stand outside of them. */
export const homeHash = (home: string): string => createHash("sha256").update(home).digest("hex").slice(0, 12);

export const UNSAFE_HOME_HINT = "use --home with a new directory, or one of your own of mode 700";

/** Creates or verifies the home. Throws `ProtocolError("unsafe_directory")` with the way out. */
export function prepareHome(fs: FileSystem, home: string): void {
  try {
    ensurePrivateDirectory(fs, home);
    for (const folder of homeFolders) ensurePrivateDirectory(fs, `${home}/${folder}`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ProtocolError("unsafe_directory", message, {
      hint: UNSAFE_HOME_HINT,
    });
  }
}

/** A socket is bound under another name beside its own first; both must fit. */
const fits = (path: string): boolean => socketPathFits(path) && socketPathFits(join(dirname(path), longestAside));

/** Throws `ProtocolError("path_too_long")` for a home whose sockets would fit nowhere, before anything is started. */
export const checkSocketPaths = (home: string): void => void placeSocket(nodeFileSystem, home, "x".repeat(13));

/** Where long paths take their sockets: Node truncates beyond 107 bytes without a word (I147). */
function runtimeFolder(environment: NodeJS.ProcessEnv, uid: number): string {
  const runtime = environment["XDG_RUNTIME_DIR"];
  return runtime?.startsWith("/") ? `${runtime}/holdfast` : `${tmpdir()}/holdfast-${uid}`;
}

/** The path of a socket named after its generation: in the home if that fits, else in a verified runtime folder. */
export function placeSocket(fs: FileSystem, home: string, name: string): string {
  const inHome = `${home}/run/${name}.sock`;
  if (fits(inHome)) return inHome;
  const folder = runtimeFolder(process.env, process.getuid?.() ?? 0);
  ensurePrivateDirectory(fs, folder);
  const path = `${folder}/${homeHash(home)}-${name}.sock`;
  if (fits(path)) return path;
  throw new ProtocolError("path_too_long", `a socket path takes at most 107 bytes, and ${path} has more`, {
    hint: "set XDG_RUNTIME_DIR to a shorter directory, or use --home with a shorter one",
  });
}
