import type { Verdict } from "../types.ts";
import { all, type Each, PID, type World } from "./world.testing.ts";

/** What became of process 42, and what is known of it then. */
export interface State {
  readonly title: string;
  readonly become: (world: World) => void;
  /** Of the record. */
  readonly verdict: Each<Verdict>;
  /** Of a handle that was opened before. */
  readonly held: Each<Verdict>;
}

const current = (basis: "kernel-id" | "start-time"): Verdict => ({ kind: "current", basis });
const BY_KERNEL_ID = current("kernel-id");
const BY_TICKS = current("start-time");
const CURRENT = { pidfd: BY_KERNEL_ID, ticks: BY_TICKS, narrow: BY_TICKS };
const HELD = all<Verdict>({ kind: "current", basis: "handle" });
const DEFUNCT = all<Verdict>({ kind: "gone", why: "defunct" });
const GONE = all<Verdict>({ kind: "gone", why: "no-such-pid" });
const REPLACED = all<Verdict>({ kind: "replaced", by: "process" });
const unknown = (why: Extract<Verdict, { kind: "unknown" }>["why"]): Verdict => ({ kind: "unknown", why });

/** What lacks the kernel's own ids needs /proc. */
const blindExceptPidfd = (why: Extract<Verdict, { kind: "unknown" }>["why"]): Each<Verdict> => ({
  ...all(unknown(why)),
  pidfd: BY_KERNEL_ID,
});

const change =
  (fields: Parameters<World["table"]["change"]>[1]) =>
  ({ table }: World): void =>
    table.change(PID, fields);

const end = ({ table }: World): void => table.end(PID);
const reap = ({ table }: World): void => table.reap(PID);
const beProc =
  (self: string) =>
  ({ table }: World): void =>
    void table.files.set("/proc/self", self);

const OTHER_STAT = `43 (x) S 1 1 1 ${"0 ".repeat(15)}1000 0\n`;

const alive: readonly State[] = [
  { title: "it runs", become: () => {}, verdict: CURRENT, held: HELD },
  { title: "it is stopped", become: change({ state: "T" }), verdict: CURRENT, held: HELD },
  { title: "it is of another user", become: change({ foreign: true }), verdict: CURRENT, held: HELD },
  {
    title: "I3 its leader ended and threads run",
    become: change({ state: "Z", threads: 2 }),
    verdict: CURRENT,
    held: HELD,
  },
];

const ended: readonly State[] = [
  { title: "I3 it is a zombie", become: end, verdict: DEFUNCT, held: DEFUNCT },
  { title: "I98 it is in state X", become: change({ state: "X", threads: 0 }), verdict: DEFUNCT, held: DEFUNCT },
  { title: "it is reaped", become: reap, verdict: GONE, held: GONE },
  {
    title: "I9 its number is another's",
    become: ({ table }) => void table.start({ pid: PID, startTicks: "1001" }),
    verdict: REPLACED,
    held: GONE,
  },
  {
    title: "its number is another's zombie",
    become: ({ table }) => void table.start({ pid: PID, startTicks: "1001", state: "Z" }),
    verdict: REPLACED,
    held: GONE,
  },
  {
    title: "its number is a thread's",
    become: ({ table }) => {
      table.reap(PID);
      table.start({ pid: 41, threadIds: [PID], threads: 2 });
    },
    verdict: all({ kind: "replaced", by: "thread" }),
    held: GONE,
  },
  {
    // Start times have 10 ms: this is the limit of every record without the kernel's own id.
    title: "its number is another's, which started within the same tick",
    become: ({ table }) => void table.start({ pid: PID }),
    verdict: { pidfd: { kind: "replaced", by: "process" }, ticks: BY_TICKS, narrow: BY_TICKS },
    held: GONE,
  },
];

const unseen: readonly State[] = [
  {
    title: "I11 its files are hidden",
    become: change({ unreadable: { stat: "ENOENT", status: "ENOENT" } }),
    verdict: blindExceptPidfd("hidden"),
    held: HELD,
  },
  {
    title: "its stat is denied",
    become: change({ unreadable: { stat: "EACCES" } }),
    verdict: blindExceptPidfd("denied"),
    held: HELD,
  },
  {
    title: "I155 no descriptor is left for its stat",
    become: change({ unreadable: { stat: "EMFILE" } }),
    verdict: blindExceptPidfd("descriptors-exhausted"),
    held: HELD,
  },
  {
    title: "its stat is garbage",
    become: change({ statText: "42 (x" }),
    verdict: blindExceptPidfd("unparsable"),
    held: { ...HELD, narrow: unknown("unparsable") },
  },
  {
    title: "its stat is of another number",
    become: change({ statText: OTHER_STAT }),
    verdict: blindExceptPidfd("unparsable"),
    held: { ...HELD, narrow: unknown("unparsable") },
  },
  {
    title: "its open stat cannot be read",
    become: change({ unreadable: { again: "EIO" } }),
    verdict: CURRENT,
    held: { ...HELD, narrow: unknown("denied") },
  },
  {
    title: "/proc is a stranger's",
    become: beProc("99"),
    verdict: blindExceptPidfd("foreign-proc"),
    held: HELD,
  },
  { title: "/proc is lost", become: beProc("!ENOENT"), verdict: blindExceptPidfd("no-proc"), held: HELD },
  {
    title: "/proc is lost and it is reaped",
    become: (world) => {
      beProc("!ENOENT")(world);
      reap(world);
    },
    verdict: GONE,
    held: GONE,
  },
  {
    // The kernel tells a zombie by poll(2), and without it only through /proc.
    title: "its files are hidden and it is a zombie",
    become: (world) => {
      change({ unreadable: { stat: "ENOENT", status: "ENOENT" } })(world);
      end(world);
    },
    verdict: { ...DEFUNCT, narrow: unknown("hidden") },
    held: DEFUNCT,
  },
];

export const eachState = [...alive, ...ended, ...unseen].map((state) => [state.title, state] as const);
