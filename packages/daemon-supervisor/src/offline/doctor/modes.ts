import { chmodSync, lstatSync, readdirSync } from "node:fs";
import type { Stats } from "node:fs";
import { errnoOf } from "@holdfast/shared-process";

/** What is unsafe in one directory, itself included. */
export interface UnsafeFolder {
  readonly folder: string;
  readonly reason: string;
  /** Those that can be made private, the directory first; empty where nothing here may be touched. */
  readonly paths: readonly string[];
}

const OTHERS = 0o077;
/** Home, `sessions`, one session, its journal. */
const MAX_DEPTH = 4;

const user = (): number => process.geteuid?.() ?? 0;

/** Everything below a home that others may reach, one entry for each directory. Throws system errors, but for what vanishes meanwhile. */
export function unsafeBelow(folder: string, depth = MAX_DEPTH): UnsafeFolder[] {
  const stats = statOf(folder);
  if (stats === null) return [];
  if (!stats.isDirectory()) return [untouchable(folder, "it is not a directory")];
  if (stats.uid !== user()) return [untouchable(folder, "it belongs to another user")];
  const names = readdirSync(folder).toSorted();
  const entries = names.flatMap((name) => {
    const path = `${folder}/${name}`;
    const found = statOf(path);
    return found === null ? [] : [{ path, found }];
  });
  const files = entries.filter(({ found }) => !found.isDirectory() && !found.isSymbolicLink());
  const foreign = files.filter(({ found }) => found.uid !== user());
  const open = files.filter(({ found }) => found.uid === user() && isOpen(found)).map(({ path }) => path);
  const paths = [...(isOpen(stats) ? [folder] : []), ...open];
  return [
    ...(paths.length === 0 ? [] : [{ folder, reason: reasonFor(folder, paths), paths }]),
    ...foreign.map(({ path }) => untouchable(path, "it belongs to another user")),
    ...(depth === 0
      ? []
      : entries.filter(({ found }) => found.isDirectory()).flatMap(({ path }) => unsafeBelow(path, depth - 1))),
  ];
}

const isOpen = ({ mode }: Stats): boolean => (mode & OTHERS) !== 0;
const untouchable = (folder: string, reason: string): UnsafeFolder => ({ folder, reason, paths: [] });

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
    if (errnoOf(error) !== "ENOENT") throw error;
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
