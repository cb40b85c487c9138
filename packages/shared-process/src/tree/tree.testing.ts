import type { Cgroup } from "../cgroup/cgroup.ts";
import { makeCgroup } from "../cgroup/make.ts";
import { createObserver } from "../observe/create.ts";
import { FakeCgroups, FakeClock, type FakePidfds, type FakeProcessTable } from "../testing/index.ts";
import type { ProcessObserver } from "../types.ts";
import { endTree, type EndTreeOptions, type TreeReport } from "./end.ts";

export const marker = { name: "HOLDFAST_SESSION", value: "s1" };
export const environment = { HOLDFAST_SESSION: "s1" };
export const GROUP = "/sys/fs/cgroup/session-0123456789";

/** The two ways to signal: bound by the kernel, or looked at in the turn of the signal. */
export const observers: Record<string, (table: FakeProcessTable, pidfds?: FakePidfds) => ProcessObserver> = {
  pidfd: (table, pidfds = table.pidfds()) => createObserver({ ports: table, pidfds }),
  narrow: (table) => createObserver({ ports: table, mode: "narrow" }),
};

export function groupOf(table: FakeProcessTable): { readonly cgroup: Cgroup; readonly groups: FakeCgroups } {
  const groups = new FakeCgroups(table);
  const made = makeCgroup("session-0123456789", groups);
  if (made.kind !== "made") throw new Error(made.reason);
  return { cgroup: made.cgroup, groups };
}

/** Lets time pass in steps of 5 ms until it has ended. Without a root or a cgroup the tree is that of the marker. */
export async function end(
  table: FakeProcessTable,
  options: Partial<EndTreeOptions> = {},
  onStep: (elapsedMs: number, clock: FakeClock) => void = () => {},
): Promise<TreeReport & { readonly tookMs: number }> {
  const clock = new FakeClock();
  const observer = createObserver({ mode: "narrow", ports: table });
  const isKnown = options.root !== undefined || options.cgroup !== undefined;
  const defaults = { graceMs: 500, observer, clock, ports: table };
  const state = { settled: false };
  const running = endTree({ ...defaults, ...(isKnown ? {} : { marker }), ...options }).finally(() => {
    state.settled = true;
  });
  for (;;) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    if (state.settled) return { ...(await running), tookMs: clock.monotonic() };
    onStep(clock.monotonic(), clock);
    clock.advance(5);
  }
}
