import type { Home } from "./home.ts";

export interface Ps {
  readonly daemons: readonly { readonly home: string; readonly pid: number }[];
  readonly workers: readonly { readonly home: string; readonly pid: number; readonly memoryBytes: number | null }[];
  readonly orphans: readonly { readonly pid: number; readonly workerId: string | null }[];
  readonly scan: { readonly problems: readonly string[] };
}

/** Tests run side by side, and `ps` shows all homes: what belongs to this one. */
export async function psOf(home: Home, from = home): Promise<Ps> {
  const all: Ps = JSON.parse((await from.ok(["ps", "--json"])).stdout);
  const isOwn = (row: { readonly home: string }): boolean => row.home === home.path;
  const own = new Set(home.processes().map(({ pid }) => pid));
  return {
    daemons: all.daemons.filter(isOwn),
    workers: all.workers.filter(isOwn),
    orphans: all.orphans.filter(({ pid }) => own.has(pid)),
    scan: { problems: all.scan.problems.filter((problem) => problem.includes(home.path)) },
  };
}
