import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "./home.ts";

/** The cgroup that a session's descriptor names; `null` where none could be made. */
export function cgroupOf(home: Home, sessionId: string): string | null {
  const text = readFileSync(home.descriptorPath(sessionId), "utf8");
  const { process }: { readonly process: { readonly cgroupPath: string | null } } = JSON.parse(text);
  return process.cgroupPath;
}

export const membersOf = (cgroup: string): number[] =>
  readFileSync(`${cgroup}/cgroup.procs`, "utf8").split("\n").filter(Boolean).map(Number);

const mountPoint = (): string | undefined =>
  / (\/\S+) \S+ (?:\S+ )*- cgroup2 /.exec(readFileSync("/proc/self/mountinfo", "utf8"))?.[1];

/** A command to put before another one, for which no cgroup can be made: as in most containers, they can only be read. */
export const readOnlyCgroups = (): readonly [string, ...string[]] => {
  const mount = mountPoint();
  // Of the mount alone: the file system behind it is the machine's.
  const script = mount === undefined ? "true" : `mount --bind ${mount} ${mount} && mount -o remount,bind,ro ${mount}`;
  return ["unshare", "--mount", "sh", "-c", `${script} && exec "$@"`, "sh"];
};

/** The directory beside whose groups this process could make one, on a machine that has nothing unusual about it. */
function ownGroup(): string | null {
  const mount = mountPoint();
  const own = /^0::(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1];
  return mount === undefined || own === undefined ? null : join(mount, own);
}

/** Removes the empty groups of all homes in a directory: those of kept programs outlive their sessions until the next daemon. */
export function removeCgroups(root: string): void {
  const group = ownGroup();
  if (group === null || !existsSync(group)) return;
  const homes = readdirSync(root).map((name) => join(root, name));
  const hashes = homes.map((home) => createHash("sha256").update(home).digest("hex").slice(0, 12));
  for (const name of readdirSync(group)) {
    if (!hashes.some((hash) => name.startsWith(`holdfast-${hash}-`))) continue;
    try {
      rmdirSync(join(group, name));
    } catch {
      // Somebody is in it whom the test has to end: its own check says so.
    }
  }
}
