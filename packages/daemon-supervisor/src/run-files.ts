import { basename, dirname } from "node:path";
import { removeFile } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { probeLifeline } from "@holdfast/shared-process";
import type { WorkerFiles } from "./descriptor-files.ts";
import { placeSocket, runFolder } from "./home.ts";

interface Owned {
  readonly epoch: number;
  readonly files: Pick<WorkerFiles, "descriptors">;
}

/** Removes what supervisors left that died before a record named it: of claims, of starts and of launches (I124). For the owner alone. */
export function sweepRunFiles(fs: FileSystem, home: string, { epoch, files }: Owned): void {
  for (const path of [...unnamedLifelines(fs, home, files), ...olderSockets(fs, home, epoch)]) removeFile(fs, path);
}

/** What a descriptor names is its proof. One that cannot be read may name any, so then those of workers stay. */
function unnamedLifelines(fs: FileSystem, home: string, { descriptors }: Owned["files"]): string[] {
  const named = new Set(descriptors.map((read) => read.kind === "descriptor" && read.descriptor.process.lifelinePath));
  const areKnown = descriptors.every(({ kind }) => kind === "descriptor");
  return fs
    .readdir(runFolder(home))
    .filter((name) => name.endsWith(".alive") && (areKnown || /^(?:claim|owner)-/.test(name)))
    .map((name) => `${runFolder(home)}/${name}`)
    .filter((path) => !named.has(path) && probeLifeline(path) === "released");
}

/** Bound by those that died before their record said where. */
function olderSockets(fs: FileSystem, home: string, epoch: number): string[] {
  const own = placeSocket(fs, home, `d${epoch}`);
  const folder = dirname(own);
  const prefix = basename(own, `${epoch}.sock`);
  return fs
    .readdir(folder)
    .filter((name) => name.startsWith(prefix) && /^\d+\.sock$/.test(name.slice(prefix.length)))
    .filter((name) => Number.parseInt(name.slice(prefix.length), 10) < epoch)
    .map((name) => `${folder}/${name}`);
}
