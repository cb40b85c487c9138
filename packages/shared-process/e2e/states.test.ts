import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type OwnedProcess, parseStat, type ProcessIdentity } from "../src/index.ts";
import { eventually, firstLine, fixture, linesOf, observer, start } from "./harness.ts";
import { both, CURRENT, DENIED, type Expected, gone, never, no, unknown, unseen } from "./states.ts";

/** A process, who has to be killed in the end, and what that one's end says if nobody has signalled it before. */
interface Target {
  readonly identity: ProcessIdentity;
  readonly owner: OwnedProcess;
}

interface State {
  readonly title: string;
  /** By default a program that sleeps. */
  readonly start?: () => Promise<Target>;
  /** After the observer has taken hold of it. */
  readonly become?: (target: Target) => Promise<void>;
  /** What the observer is given, by default the identity as it was read. */
  readonly record?: (identity: ProcessIdentity) => ProcessIdentity;
  /** What the observer is started by. */
  readonly inside?: readonly string[];
  /** What the observer does to itself then: see `fixtures/observe.mjs`. */
  readonly change?: string;
  readonly expected: Expected;
}

const MADE_MACHINE = "0123456789abcdef0123456789abcdef";
const script = (text: string): readonly string[] => ["unshare", "--mount", "sh", "-c", `${text} && exec "$@"`, "sh"];
/** A machine without an id gets one. */
const identified = script(
  `mount -t tmpfs none /var/lib && mkdir /var/lib/dbus && echo ${MADE_MACHINE} > /var/lib/dbus/machine-id`,
);

async function sleeper(): Promise<Target> {
  const owner = await start("sleep", ["100"]);
  return { identity: owner.identity, owner };
}

async function withThreads(): Promise<Target> {
  const owner = await start(process.execPath, [fixture("leader-ends.mjs")]);
  expect(await firstLine(owner)).toBe("ready");
  return { identity: owner.identity, owner };
}

/** The child of a program that never waits for it. */
async function neglected(): Promise<Target> {
  const owner = await start("sh", ["-c", "sleep 100 & echo $!; exec sleep 100"]);
  const seen = observer.identify(Number(await firstLine(owner)));
  if (seen.kind !== "identified") throw new Error(`the child is ${seen.why}`);
  return { identity: seen.identity, owner };
}

async function manyThreads(): Promise<Target> {
  const owner = await start(process.execPath, ["-e", "console.log('ready'); setInterval(() => {}, 1000)"]);
  expect(await firstLine(owner)).toBe("ready");
  return { identity: owner.identity, owner };
}

const stateOf = ({ pid }: ProcessIdentity): string | null => {
  const parsed = parseStat(readFileSync(`/proc/${pid}/stat`, "latin1"));
  return parsed.kind === "parsed" ? parsed.stat.state : null;
};

const standStill = async ({ identity }: Target): Promise<void> => {
  observer.signal(identity, "SIGSTOP");
  await eventually(() => stateOf(identity) === "T", "it stands still");
};

const die = async ({ identity }: Target): Promise<void> => {
  observer.signal(identity, "SIGKILL");
  await eventually(() => observer.verdict(identity).kind === "gone", "it has ended");
};

const endWhole = async ({ owner }: Target): Promise<void> => {
  await owner.signal("SIGKILL");
  await owner.exited;
};

const threadOf = (identity: ProcessIdentity): ProcessIdentity => {
  const thread = readdirSync(`/proc/${identity.pid}/task`)
    .map(Number)
    .find((id) => id !== identity.pid);
  if (thread === undefined) throw new Error("it has one thread only");
  return { ...identity, pid: thread };
};

const THREAD = never({ kind: "replaced", by: "thread" });

const states: readonly State[] = [
  { title: "it runs", expected: CURRENT },
  { title: "it is stopped", become: standStill, expected: CURRENT },
  { title: "I3 its leader has ended and threads run", start: withThreads, become: awaitZombie, expected: CURRENT },
  { title: "I3 I98 I133 it is a zombie", start: neglected, become: die, expected: both(no(gone("defunct"))) },
  { title: "it is gone", become: endWhole, expected: both(no(gone("no-such-pid"))) },
  {
    title: "I131 its number is now a thread's",
    start: manyThreads,
    record: threadOf,
    expected: both({ ...THREAD, identify: gone("no-such-pid") }),
  },
  {
    title: "it is of another pid namespace",
    inside: ["unshare", "--pid", "--fork", "--mount-proc"],
    expected: both({ ...never(unknown("other-pid-namespace")), identify: gone("no-such-pid") }),
  },
  {
    title: "it is of another time namespace",
    inside: ["unshare", "--time", "--boottime", "1000", "--fork"],
    expected: { ...CURRENT, narrow: { ...never(unknown("other-time-namespace")), identify: "identified" } },
  },
  {
    title: "I134 the observer never had a /proc",
    inside: script("mount -t tmpfs none /proc"),
    expected: {
      pidfd: { ...never(unknown("boot-unreadable")), identify: "identified" },
      narrow: never(unknown("no-proc")),
    },
  },
  {
    title: "I134 the observer has lost its /proc",
    inside: ["unshare", "--mount"],
    change: "lose /proc",
    expected: { ...CURRENT, narrow: unseen("no-proc", "narrow-window") },
  },
  {
    title: "I11 I134 its /proc is hidden from the observer, who is another user",
    inside: script("mount -t proc -o hidepid=2 proc /proc"),
    change: "become nobody",
    expected: {
      pidfd: { ...CURRENT.pidfd, heldSignal: DENIED, signal: DENIED },
      narrow: { ...unseen("hidden", "narrow-window"), heldSignal: DENIED },
    },
  },
  {
    title: "I105 the observer is another user",
    change: "become nobody",
    expected: {
      pidfd: { ...CURRENT.pidfd, heldSignal: DENIED, signal: DENIED },
      narrow: { ...CURRENT.narrow, heldSignal: DENIED, signal: DENIED },
    },
  },
  {
    title: "I155 the observer has no descriptor left",
    inside: ["prlimit", "--nofile=64:64"],
    change: "use up descriptors",
    expected: {
      // One descriptor in reserve is enough to look and to signal; to take hold needs one of its own.
      pidfd: { ...CURRENT.pidfd, open: unknown("descriptors-exhausted") },
      narrow: unseen("descriptors-exhausted", "narrow-window"),
    },
  },
  {
    title: "it is of a previous boot",
    inside: identified,
    record: (identity) => ({
      ...identity,
      machineId: identity.machineId ?? MADE_MACHINE,
      bootId: "00000000-0000-4000-8000-000000000000",
    }),
    expected: both({ ...never(gone("previous-boot")), identify: "identified" }),
  },
  {
    title: "I163 it is of another machine",
    inside: identified,
    record: (identity) => ({ ...identity, machineId: MADE_MACHINE.replaceAll("0", "f") }),
    expected: both({ ...never(unknown("other-host")), identify: "identified" }),
  },
  {
    title: "I134 the observer cannot read which boot it is",
    inside: script("mount --bind /dev/null /proc/sys/kernel/random/boot_id"),
    expected: both({ ...never(unknown("boot-unreadable")), identify: "identified" }),
  },
];

async function awaitZombie({ identity }: Target): Promise<void> {
  await eventually(() => stateOf(identity) === "Z", "its leader has ended");
}

describe.each(["pidfd", "narrow"] as const)("what is said and done by %s", (backend) => {
  const library = backend === "pidfd" ? "at-first-use" : "never";

  it.each(states.map((state) => [state.title, state] as const))("when %s", async (_title, state) => {
    const target = await (state.start ?? sleeper)();
    const record = state.record?.(target.identity) ?? target.identity;
    const spec = JSON.stringify({ library, record, change: state.change ?? "none" });
    const program = [process.execPath, fixture("observe.mjs"), spec];
    const asked = await start("env", [...(state.inside ?? []), ...program]);
    const lines = linesOf(asked);
    expect(await lines.next()).toEqual({ done: false, value: "opened" });
    await state.become?.(target);
    asked.stdin.end("\n");
    const { value: text } = await lines.next();
    const { backend: used, ...answers } = JSON.parse(String(text));
    expect(answers).toEqual(state.expected[backend]);
    expect(used).toMatch(backend === "pidfd" ? /^linux-pidfd$/ : /^linux-narrow$|^bare$/);
    // Whoever was hit ends by that signal, once it runs, and nobody else was to be hit.
    const isHit = answers.signal.kind === "sent";
    await target.owner.signal(isHit ? "SIGCONT" : "SIGKILL");
    expect((await target.owner.exited).status).toEqual({ signal: isHit ? "SIGTERM" : "SIGKILL" });
  });
});
