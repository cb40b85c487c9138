import { resolve } from "node:path";
import type { TrustRow } from "@holdfast/client/protocol";
import { canonicalDirectory, projectOf, type TrustedDirectory } from "@holdfast/project-trust";
import { type FileSystem, nodeFileSystem } from "@holdfast/recovery-journal";
import { trustPath } from "../home.ts";
import { lookAtTrusted, readTrust } from "../trust-list.ts";

/** What `agent trust check` tells of a directory. */
export interface TrustCheck {
  /** The path as it was asked for, absolute. */
  readonly directory: string;
  /** `null` where there is none, or nobody can tell. */
  readonly project: string | null;
  readonly trusted: boolean;
  /** Why not, in words; `null` where it is trusted. */
  readonly reason: string | null;
}

/** What a person can do then, of the project by its exact path. */
export type NextStep = "add" | "check" | "doctor" | null;

interface Checked {
  readonly check: TrustCheck;
  readonly next: NextStep;
}

/** The directories that are trusted, each as it is found now. Throws `invalid_config` where the list cannot be read. */
export function trustedIn(home: string, fs: FileSystem = nodeFileSystem): TrustRow[] {
  const list = readTrust(fs, trustPath(home));
  if (list.kind !== "list") throw list.error;
  return lookAtTrusted(list.directories).map(({ reason: _reason, ...row }) => row);
}

/** Their paths, as the list has them. */
export function listedIn(home: string, fs: FileSystem = nodeFileSystem): string[] {
  const list = readTrust(fs, trustPath(home));
  if (list.kind !== "list") throw list.error;
  return list.directories.map(({ directory }) => directory);
}

/** Whether a session in this directory would be in a trusted project. `path` is absolute, as the kernel takes it. */
export function checkTrust(home: string, path: string, fs: FileSystem = nodeFileSystem): Checked {
  const directory = resolve(path);
  const found = projectAt(path);
  const project = found.kind === "project" ? found.project : null;
  const no = (reason: string, next: NextStep): Checked => ({
    check: { directory, project, trusted: false, reason },
    next,
  });
  if (found.kind === "none") return no(found.reason, null);
  const list = readTrust(fs, trustPath(home));
  if (list.kind !== "list") return no(`nothing is trusted: ${list.error.message}`, "doctor");
  const reason = whyNot(list.directories, found.project);
  if (found.directory !== directory)
    return no(
      `${directory} leads to ${found.directory}: a path is trusted by its exact spelling, without links`,
      reason === null ? "check" : "add",
    );
  return reason === null ? { check: { directory, project, trusted: true, reason }, next: null } : no(reason, "add");
}

function whyNot(directories: readonly TrustedDirectory[], project: string): string | null {
  const entry = directories.find(({ directory }) => directory === project);
  if (entry === undefined) return `nobody has trusted ${project}`;
  return lookAtTrusted([entry])[0]?.reason ?? null;
}

/** The project that a path leads to, or why there is none. */
export type ProjectAt =
  | {
      readonly kind: "project";
      /** The exact path of what was asked for. */
      readonly directory: string;
      readonly project: string;
      readonly by: "git" | "itself";
    }
  | { readonly kind: "none"; readonly missing: boolean; readonly reason: string };

/** From any spelling. What comes of it is to be shown to a person before it is trusted. */
export function projectAt(path: string): ProjectAt {
  const found = canonicalDirectory(path);
  if (found.kind === "denied") return { kind: "none", missing: found.reason === "missing", reason: found.detail };
  const { directory } = found.identity;
  const project = projectOf(directory);
  return project.kind === "denied"
    ? {
        kind: "none",
        missing: false,
        reason: `nobody can tell which project ${directory} belongs to: ${project.detail}`,
      }
    : { kind: "project", directory, project: project.directory, by: project.by };
}

/** What of a project would be read if it were trusted: names alone, nothing is opened (I49). */
const settings = [".holdfast/config.json", ".mcp.json"] as const;

export function settingsIn(project: string, fs: FileSystem = nodeFileSystem): string[] {
  return settings.filter((name) => {
    try {
      fs.lstat(`${project}/${name}`);
      return true;
    } catch {
      // Not there, or not to be seen: whoever reads it later looks again, inside of the directory that is trusted.
      return false;
    }
  });
}
