import { describe, expect, it } from "vitest";
import type { Signal, SignalOutcome, SignalWay, Verdict } from "../types.ts";
import { eachState } from "./states.testing.ts";
import { type Backend, BACKENDS, open, openDescriptors, PID, world, type WorldOptions } from "./world.testing.ts";

const wayOf: Readonly<Record<Backend, SignalWay>> = { pidfd: "pidfd", ticks: "pidfd", narrow: "narrow-window" };
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as from a file that was believed
const NO_SIGNALS = [undefined, null, "", "TERM", "toString", 15] as readonly unknown[] as readonly Signal[];
const marker = { environment: { name: "GENERATION", value: "g1" } };
const gone = { kind: "not-sent", verdict: { kind: "gone", why: "no-such-pid" } } as const;

/** I16: `current` is sent to, unless it is another user's (I105); nothing else is. */
function outcomeOf(verdict: Verdict, way: SignalWay, title: string): SignalOutcome {
  if (verdict.kind !== "current") return { kind: "not-sent", verdict };
  return title.includes("another user") ? { kind: "denied", errno: "EPERM" } : { kind: "sent", via: way };
}

/** There a record without the kernel's id cannot tell the newcomer, but its environment can. */
const isLimit = (title: string): boolean => title.includes("same tick");

describe.each(BACKENDS)("signal by %s", (backend) => {
  it.each(NO_SIGNALS)("I16 sends nothing in place of a name that is none: %s", (signal) => {
    const { observer, recorded, table } = world(backend);
    const denied = { kind: "denied", errno: "EINVAL" };
    expect(observer.signal(recorded, signal)).toEqual(denied);
    expect(observer.signalGroup(recorded, signal)).toEqual(denied);
    expect(observer.signal(recorded, signal, marker)).toEqual(denied);
    expect(table.delivered).toEqual([]);
  });

  it.each(eachState)("I16 I105 to a record, when %s", (title, { become, verdict }) => {
    const made = world(backend);
    become(made);
    const outcome = made.observer.signal(made.recorded, "SIGTERM");
    expect(outcome).toEqual(outcomeOf(verdict[backend], wayOf[backend], title));
    expect(made.table.delivered).toEqual(outcome.kind === "sent" ? [{ pid: PID, signal: "SIGTERM" }] : []);
    expect(openDescriptors(made)).toBe(0);
  });

  it.each(eachState)("I16 I105 through a handle, when %s", (title, { become, held }) => {
    const made = world(backend);
    using handle = open(made);
    become(made);
    const outcome = handle.signal("SIGTERM");
    expect(outcome).toEqual(outcomeOf(held[backend], wayOf[backend], title));
    expect(made.table.delivered).toEqual(outcome.kind === "sent" ? [{ pid: PID, signal: "SIGTERM" }] : []);
  });

  it.each(eachState)("I16 I105 to a record with a marker, when %s", (title, { become, verdict }) => {
    const made = world(backend);
    become(made);
    const outcome = made.observer.signal(made.recorded, "SIGTERM", marker);
    const isTaken = verdict[backend].kind === "current" && isLimit(title);
    const missing = { kind: "not-sent", verdict: { kind: "unknown", why: "marker-missing" } };
    expect(outcome).toEqual(isTaken ? missing : outcomeOf(verdict[backend], wayOf[backend], title));
  });

  it.each(["SIGINT", "SIGTERM", "SIGKILL", "SIGHUP", "SIGCONT", "SIGSTOP"] as const)(
    "delivers %s as such",
    (signal) => {
      const { observer, recorded, table } = world(backend);
      expect(observer.signal(recorded, signal).kind).toBe("sent");
      expect(table.delivered).toEqual([{ pid: PID, signal }]);
    },
  );

  it.each([
    { name: "GENERATION", value: "g2" },
    { name: "GENERATION", value: "g" },
    { name: "ENERATION", value: "g1" },
    { name: "ABSENT", value: "" },
  ])("sends nothing when the environment lacks exactly $name=$value", (environment) => {
    const made = world(backend);
    using handle = open(made);
    const missing = { kind: "not-sent", verdict: { kind: "unknown", why: "marker-missing" } };
    expect(made.observer.signal(made.recorded, "SIGTERM", { environment })).toEqual(missing);
    expect(made.observer.signalGroup(made.recorded, "SIGTERM", { environment })).toEqual(missing);
    expect(handle.signal("SIGTERM", { environment })).toEqual(missing);
    expect(made.table.delivered).toEqual([]);
  });

  it.each([
    ["EACCES", "denied"],
    ["EMFILE", "descriptors-exhausted"],
  ])("I134 sends nothing when the environment gives %s", (errno, why) => {
    const { table, observer, recorded } = world(backend);
    table.change(PID, { unreadable: { environ: errno } });
    expect(observer.signal(recorded, "SIGTERM", marker)).toEqual({
      kind: "not-sent",
      verdict: { kind: "unknown", why },
    });
    expect(table.delivered).toEqual([]);
  });

  it("says so when the process ends in the very moment of the signal", () => {
    const { table, observer, recorded } = world(backend);
    table.beforeCall = (call) => {
      if (call.includes("SIGTERM")) table.reap(PID);
    };
    expect(observer.signal(recorded, "SIGTERM")).toEqual(gone);
  });

  it("always refuses process 1 and itself", () => {
    const { table, observer, recorded } = world(backend);
    const refusal = { kind: "not-sent", verdict: { kind: "unknown", why: "unsupported" } };
    table.start({ pid: 1 });
    const first = observer.identify(1);
    expect(observer.signal(observer.self(), "SIGTERM")).toEqual(refusal);
    expect(observer.signalGroup(observer.self(), "SIGTERM")).toEqual(refusal);
    expect(first.kind === "identified" && observer.signal(first.identity, "SIGTERM")).toEqual(refusal);
    expect(first.kind === "identified" && observer.signalGroup(first.identity, "SIGTERM")).toEqual(refusal);
    expect(observer.signal({ ...recorded, pid: 1, startTicks: null, pidfsInode: null }, "SIGTERM").kind).toBe(
      "not-sent",
    );
    expect(table.delivered).toEqual([]);
  });
});

/** By record and by handle, first the process and then its group. */
function outcomes(backend: Backend, options: WorldOptions): readonly SignalOutcome[] {
  const made = world(backend, options);
  made.table.change(PID, { ignores: ["SIGTERM"] });
  using handle = open(made);
  return [
    made.observer.signal(made.recorded, "SIGTERM"),
    handle.signal("SIGTERM"),
    made.observer.signalGroup(made.recorded, "SIGTERM"),
    handle.signalGroup("SIGTERM"),
  ];
}

describe("the mode", () => {
  const refusal = { kind: "not-sent", verdict: { kind: "unknown", why: "unsupported" } };
  const bound = { kind: "sent", via: "pidfd" };
  const narrow = { kind: "sent", via: "narrow-window" };

  it("refuse, the default, sends what the kernel binds and nothing else", () => {
    const mode = "refuse";
    expect(outcomes("pidfd", { mode })).toEqual([bound, bound, bound, bound]);
    expect(outcomes("ticks", { mode })).toEqual([bound, bound, refusal, refusal]);
    expect(outcomes("narrow", { mode })).toEqual([refusal, refusal, refusal, refusal]);
  });

  it("narrow says by what each was bound", () => {
    expect(outcomes("pidfd", {})).toEqual([bound, bound, bound, bound]);
    expect(outcomes("ticks", {})).toEqual([bound, bound, narrow, narrow]);
    expect(outcomes("narrow", {})).toEqual([narrow, narrow, narrow, narrow]);
  });

  it("narrow reads the state of the process as the last thing before the kill", () => {
    const made = world("narrow");
    made.table.change(PID, { ignores: ["SIGTERM"] });
    using handle = open(made);
    const last = (send: () => SignalOutcome): readonly string[] => {
      made.calls.length = 0;
      expect(send()).toEqual(narrow);
      return made.calls.slice(-2);
    };
    const { observer, recorded } = made;
    const [stat, again] = [`/proc/${PID}/stat`, `again /proc/${PID}/stat`];
    const [one, group] = [`kill ${PID} SIGTERM`, `kill -${PID} SIGTERM`];
    expect(last(() => observer.signal(recorded, "SIGTERM"))).toEqual([stat, one]);
    expect(last(() => observer.signal(recorded, "SIGTERM", marker))).toEqual([stat, one]);
    expect(last(() => observer.signalGroup(recorded, "SIGTERM"))).toEqual([stat, group]);
    expect(last(() => handle.signal("SIGTERM"))).toEqual([again, one]);
    expect(last(() => handle.signal("SIGTERM", marker))).toEqual([again, one]);
    expect(last(() => handle.signalGroup("SIGTERM"))).toEqual([again, group]);
  });
});
