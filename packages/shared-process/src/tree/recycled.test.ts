import { describe, expect, it } from "vitest";
import { createObserver } from "../observe/create.ts";
import { FakeProcessTable } from "../testing/index.ts";
import type { ProcessObserver } from "../types.ts";
import type { EndTreeOptions } from "./end.ts";
import { end, environment, GROUP, groupOf, marker } from "./tree.testing.ts";

const TREE = [20, 21, 22];

/** A root, a child with the marker, a grandchild with nothing; one of them ignores SIGTERM. All are in a group, if there is one. */
function machine(): FakeProcessTable {
  const table = new FakeProcessTable();
  table.start({ pid: 20, environment, cgroup: GROUP });
  table.start({ pid: 21, ppid: 20, environment, cgroup: GROUP, ignores: ["SIGTERM"] });
  table.start({ pid: 22, ppid: 21, session: 20, pgrp: 20, cgroup: GROUP });
  return table;
}

type Way = (table: FakeProcessTable, observer: ProcessObserver) => Partial<EndTreeOptions>;
const ways: Record<string, Way> = {
  marker: () => ({ marker }),
  // By start ticks alone nobody could tell the stranger of the same tick, so the root is held from before.
  root: (_table, observer) => {
    const seen = observer.identify(20);
    const opened = seen.kind === "identified" ? observer.open(seen.identity) : seen;
    if (opened.kind !== "opened") throw new Error(`not held: ${opened.kind}`);
    return { root: opened.handle };
  },
  cgroup: (table) => ({ cgroup: groupOf(table).cgroup }),
};

interface Run {
  readonly calls: number;
  /** What became of it at which call. */
  readonly hits: readonly string[];
}

/** The number `pid` goes to a stranger before the call `at`; the stranger even started in the same tick. */
async function recycledBefore(
  at: number,
  pid: number,
  { way, bound }: { readonly way: Way; readonly bound: boolean },
): Promise<Run> {
  const table = machine();
  const observer = createObserver({ ports: table, mode: "narrow", ...(bound ? { pidfds: table.pidfds() } : {}) });
  const options = way(table, observer);
  let calls = 0;
  let text = "";
  let before = -1;
  table.beforeCall = (call) => {
    calls += 1;
    if (calls !== at || !table.has(pid)) return;
    // Between the last look and the kill stands only the question whether it is permitted: that is the window of narrow mode.
    if (!bound && call.startsWith(`kill ${pid} `)) return;
    table.start({ pid, command: "stranger", ignores: ["SIGTERM", "SIGKILL"] });
    [text, before] = [call, table.delivered.length];
  };
  await end(table, { ...options, observer, graceMs: 5, lastRoundsMs: 50 });
  const hits = before < 0 ? [] : table.delivered.slice(before).filter((one) => one.pid === pid);
  return { calls, hits: hits.map(({ signal }) => `${signal} after ${text}`) };
}

describe.each(Object.entries(ways))("endTree by a %s", (_name, way) => {
  it.each([
    ["bound signals", true],
    ["narrow mode", false],
  ])(
    "I131 hits nobody whose number was a member's before, wherever it was given away, with %s",
    async (_title, bound) => {
      for (const pid of TREE) {
        for (let at = 1, calls = at; at <= calls; at += 1) {
          const run = await recycledBefore(at, pid, { way, bound });
          expect(run.hits).toEqual([]);
          calls = run.calls;
        }
      }
    },
  );
});
