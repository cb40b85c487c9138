import { chmodSync, lstatSync, readdirSync } from "node:fs";
import type { Stats } from "node:fs";
import { errnoOf } from "@holdfast/shared-process";
import { homeFolders, indexPath, requestsFolder } from "../../home.ts";

/** What is unsafe in one directory, itself included. `paths`: those that can be made private, the directory first. */
export type UnsafeFolder = { readonly folder: string; readonly reason: string } & (
  | { readonly paths: readonly string[] }
  /** Nothing here may be touched; what a person can do. */
  | { readonly next: string }
);

export interface ModesLook {
  readonly depth?: number;
  readonly readdir?: (folder: string) => string[];
  /** A directory that cannot be looked into, which hides nothing of the others. */
  readonly unread: (folder: string, error: unknown) => void;
}

const OTHERS = 0o077;
/** Home, `sessions`, one session, its journal. */
const MAX_DEPTH = 4;

const user = (): number => process.geteuid?.() ?? 0;

/** Everything below a home that others may reach, one entry for each directory. Throws what keeps the home itself from being looked at. */
export function unsafeBelow(folder: string, look: ModesLook): UnsafeFolder[] {
  const { depth = MAX_DEPTH } = look;
  const stats = statOf(folder);
  if (stats === null) return [];
  if (!stats.isDirectory()) return [untouchable(folder, "it is not a directory")];
  if (stats.uid !== user()) return [untouchable(folder, "it belongs to another user")];
  const entries = entriesOf(folder, look);
  const files = entries.filter(({ found }) => !found.isDirectory() && !found.isSymbolicLink());
  const foreign = files.filter(({ found }) => found.uid !== user());
  const open = files.filter(({ found }) => found.uid === user() && isOpen(found)).map(({ path }) => path);
  const paths = [...(isOpen(stats) ? [folder] : []), ...open];
  return [
    ...(paths.length === 0 ? [] : [{ folder, reason: reasonFor(folder, paths), paths }]),
    ...foreign.map(({ path }) => untouchable(path, "it belongs to another user")),
    ...(depth === 0
      ? []
      : entries
          .filter(({ found }) => found.isDirectory())
          .flatMap(({ path }) => unsafeBelow(path, { ...look, depth: depth - 1 }))),
  ];
}

function entriesOf(folder: string, { readdir = readdirSync, unread }: ModesLook): { path: string; found: Stats }[] {
  try {
    const paths = readdir(folder).toSorted();
    return paths.flatMap((name) => {
      const path = `${folder}/${name}`;
      const found = statOf(path);
      return found === null ? [] : [{ path, found }];
    });
  } catch (error) {
    // Its own mode is judged all the same.
    unread(folder, error);
    return [];
  }
}

/** Where a home's folder, or its index of sessions, has to be and something else is. */
export const misplacedIn = (home: string): UnsafeFolder[] => [...misplacedFolders(home), ...misplacedIndex(home)];

/** No daemon starts there. */
const misplacedFolders = (home: string): UnsafeFolder[] =>
  [...homeFolders.map((name) => `${home}/${name}`), requestsFolder(home)].flatMap((folder) => {
    const stats = statOf(folder);
    if (stats === null || stats.isDirectory()) return [];
    const reason = stats.isSymbolicLink() ? "it is a symbolic link" : "it is not a directory";
    return [
      untouchable(folder, reason, "put the folder back in its place; without one, the next start makes an empty one"),
    ];
  });

/** Of no consequence but for the time that every start takes without one. */
function misplacedIndex(home: string): UnsafeFolder[] {
  const path = indexPath(home);
  const stats = statOf(path);
  if (stats === null || stats.isFile()) return [];
  return [untouchable(path, "it is not a file", "move it out of the home: the next start makes the index anew")];
}

const isOpen = ({ mode }: Stats): boolean => (mode & OTHERS) !== 0;
const untouchable = (folder: string, reason: string, next = "use a home of your own, of mode 700"): UnsafeFolder => ({
  folder,
  reason,
  next,
});

function reasonFor(folder: string, paths: readonly string[]): string {
  const [first] = paths;
  if (first === folder && paths.length === 1) return "others may enter it";
  const files = paths.filter((path) => path !== folder);
  const more = files.length === 1 ? `${files[0]}` : `${files.length} files in it, such as ${files[0]}`;
  return first === folder
    ? `others may enter it, and reach ${more}`
    : `others may reach ${more}, were they to enter it`;
}

function statOf(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    const errno = errnoOf(error);
    // Below what is no directory nothing is.
    if (errno !== "ENOENT" && errno !== "ENOTDIR") throw error;
    return null;
  }
}

/** The directory comes first: behind it nobody else can put a link in the place of what is looked at next. */
export function makePrivate(paths: readonly string[]): void {
  for (const path of paths) {
    const stats = statOf(path);
    if (stats === null || stats.isSymbolicLink() || stats.uid !== user()) continue;
    chmodSync(path, stats.mode & 0o700);
  }
}
