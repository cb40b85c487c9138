import { describe, expect, it } from "vitest";
import type { ProcessIdentity, Verdict } from "../types.ts";
import { MacosWorld, PID, record, variants, WindowsWorld, type World } from "./system-worlds.testing.ts";

/** A verdict, or as much of it as matters. */
interface Expected {
  readonly kind: Verdict["kind"];
  readonly why?: string;
  readonly basis?: string;
  readonly by?: string;
}
/** One answer of all four variants, or each one's own in the order of `variants`. */
type PerVariant = Expected | readonly [Expected, Expected, Expected, Expected];
type Case = readonly [title: string, change: (world: World) => void, expected: PerVariant];

const current = (basis: "kernel-id" | "start-time"): Expected => ({ kind: "current", basis });
const CURRENT = [
  current("kernel-id"),
  current("start-time"),
  current("start-time"),
  current("start-time"),
] satisfies PerVariant;
const DEFUNCT = { kind: "gone", why: "defunct" } as const;
const NO_SUCH_PID = { kind: "gone", why: "no-such-pid" } as const;
const unknown = (why: string): Expected => ({ kind: "unknown", why });

const states: readonly Case[] = [
  ["it runs", () => {}, CURRENT],
  ["it is stopped", (world) => world.change({ state: "T" }), CURRENT],
  ["it is of another user", (world) => world.change({ foreign: true }), CURRENT],
  // Without the library Windows shows an ended process through kill(0) alone.
  ["I3 it is a zombie", (world) => world.change({ state: "Z" }), [DEFUNCT, DEFUNCT, DEFUNCT, NO_SUCH_PID]],
  ["its number is free", (world) => world.reap(), NO_SUCH_PID],
  ["I9 its number is another's", (world) => world.start({ pid: PID, serial: 3 }), { kind: "replaced", by: "process" }],
  [
    "its number is another's zombie",
    (world) => world.start({ pid: PID, serial: 3, state: "Z" }),
    [{ kind: "replaced" }, { kind: "replaced" }, { kind: "replaced" }, NO_SUCH_PID],
  ],
  [
    "I11 it is hidden",
    (world) => world.change({ hidden: true }),
    [unknown("denied"), unknown("hidden"), unknown("denied"), unknown("denied")],
  ],
];

const records: readonly (readonly [string, Partial<ProcessIdentity>, PerVariant])[] = [
  [
    "of a previous boot",
    { bootId: "bbbbbbbb-0000-4000-8000-000000000002" },
    // No boot of Windows is known, so that another one proves nothing.
    [
      { kind: "gone", why: "previous-boot" },
      { kind: "gone", why: "previous-boot" },
      unknown("boot-unreadable"),
      unknown("boot-unreadable"),
    ],
  ],
  ["I163 of another machine", { machineId: "aaaaaaaa-0000-4000-8000-000000000002" }, unknown("other-host")],
  ["of another machine and boot", { machineId: "x", bootId: "y" }, unknown("other-host")],
  ["without a boot", { bootId: null }, unknown("boot-unreadable")],
  ["of another pid namespace", { pidNamespace: "pid:[1]" }, unknown("other-pid-namespace")],
  ["without a time namespace", { timeNamespace: null }, unknown("no-common-field")],
  ["with the number 0", { pid: 0 }, unknown("unparsable")],
  ["with a negative number", { pid: -PID }, unknown("unparsable")],
  ["with a broken number", { pid: PID + 0.5 }, unknown("unparsable")],
  ["with no number", { pid: Number.NaN }, unknown("unparsable")],
  ["with a number beyond all", { pid: 2 ** 31 }, unknown("unparsable")],
];

describe.each([
  { ...variants[0], index: 0 },
  { ...variants[1], index: 1 },
  { ...variants[2], index: 2 },
  { ...variants[3], index: 3 },
] as const)("$name", ({ create, index }) => {
  const own = (expected: PerVariant): Expected => ("kind" in expected ? expected : expected[index]);

  it.each(states)("when %s", (_title, change, expected) => {
    const world = create();
    const observer = world.observer();
    const recorded = record(world, observer);
    change(world);
    expect(observer.verdict(recorded)).toMatchObject(own(expected));
  });

  it.each(records)("probes nothing for a record %s", (_title, fields, expected) => {
    const world = create();
    const observer = world.observer();
    const recorded = { ...record(world, observer), ...fields };
    expect(observer.verdict(recorded)).toMatchObject(own(expected));
    expect(world.calls).toEqual([]);
  });

  it("is unknown for a record with neither start nor kernel id, unless its number is free", () => {
    const world = create();
    const observer = world.observer();
    const bare = { ...record(world, observer), startTicks: null, pidfsInode: null };
    expect(observer.verdict(bare)).toEqual(unknown("no-common-field"));
    world.reap();
    expect(observer.verdict(bare)).toEqual(NO_SUCH_PID);
  });

  it("I134 is unknown while neither record nor machine can be read, and recovers with the machine", () => {
    const world = create();
    const recorded = record(world);
    const observer = world.observer();
    world.boot = null;
    world.machine = null;
    // macOS cannot tell boots apart then; on Windows a start needs no boot.
    expect(observer.verdict(recorded).kind).toBe(index < 2 ? "unknown" : "current");
    world.boot = recorded.bootId;
    expect(observer.verdict(recorded).kind).toBe("current");
    expect(observer.verdict({ ...recorded, bootId: "y" }).kind).toBe("unknown");
  });

  it("holds no process object after its answers", () => {
    const world = create();
    const recorded = record(world);
    const observer = world.observer();
    for (const fields of [{}, { startTicks: "1", pidfsInode: "9" }, { startTicks: null, pidfsInode: null }]) {
      observer.verdict({ ...recorded, ...fields });
      observer.open({ ...recorded, startTicks: "1", pidfsInode: "9" });
      observer.signal({ ...recorded, ...fields }, "SIGTERM");
    }
    observer.self();
    expect(world instanceof WindowsWorld ? world.held : 0).toBe(0);
  });
});

describe("without agreement", () => {
  it.each([true, false])("calls nothing gone while its number can be signalled (library: %s)", (withLibrary) => {
    for (const world of [new MacosWorld(withLibrary), new WindowsWorld(withLibrary)]) {
      const observer = world.observer();
      const recorded = record(world, observer);
      world.beforeCall = (call) => {
        if (call.startsWith("kill")) world.start({ pid: PID, serial: 3 });
        else world.reap();
      };
      expect(observer.verdict(recorded)).toMatchObject({ kind: "unknown", why: "hidden" });
    }
  });

  it.each(["", "garbage", "Tue Foo 41 03:04:05 2024 S 1", "Xyz Abc 10 99:99:99 2024 Ss 4712", "12 runs ended"])(
    "takes no unparsable answer for another process: %j",
    (printed) => {
      for (const world of [new MacosWorld(false), new WindowsWorld(false)]) {
        const observer = world.observer();
        const recorded = record(world, observer);
        world.printed = printed;
        const { kind } = observer.verdict(recorded);
        expect(kind).toBe("unknown");
        expect(observer.signal(recorded, "SIGKILL").kind).toBe("not-sent");
        expect(world.delivered).toEqual([]);
      }
    },
  );

  it("sees on Windows that a process ended between the probe and the look", () => {
    const world = new WindowsWorld(false);
    const observer = world.observer();
    const recorded = record(world, observer);
    world.beforeCall = (call) => {
      if (call.startsWith("look")) world.change({ state: "Z" });
    };
    expect(observer.verdict(recorded)).toEqual(DEFUNCT);
  });

  it("takes a start that ps does not know for missing, not for another", () => {
    const world = new MacosWorld(false);
    const observer = world.observer();
    const recorded = record(world, observer);
    world.printed = "Thu Jan  1 00:00:00 1970 Ss 4712 40\n";
    expect(observer.verdict(recorded)).toEqual(unknown("no-common-field"));
    expect(observer.identify(PID)).toEqual(unknown("unparsable"));
  });

  it.each([1, 2, 3])("never lets Windows round a number down to another process (+%d)", (more) => {
    for (const world of [new WindowsWorld(true), new WindowsWorld(false)]) {
      const observer = world.observer();
      const recorded = { ...record(world, observer), pid: PID + more };
      expect(observer.verdict(recorded)).toEqual(unknown("unparsable"));
      expect(observer.signal(recorded, "SIGKILL")).toEqual({ kind: "not-sent", verdict: unknown("unparsable") });
      expect(world.calls).toEqual([]);
    }
  });
});

describe("records that the library wrote and ps reads, or the other way round", () => {
  const start = 1_700_000_000_123_456n;

  it.each([
    [true, false],
    [false, true],
  ])("show one process as one (written with the library: %s, read with it: %s)", (writes, reads) => {
    const recorded = record(new MacosWorld(writes));
    expect(new MacosWorld(reads).observer().verdict(recorded)).toEqual(current("start-time"));
    const later = new MacosWorld(reads);
    later.start({ pid: PID, serial: 3 });
    expect(later.observer().verdict(recorded)).toEqual({ kind: "replaced", by: "process" });
  });

  it("tell two processes of one second apart by kernel ids alone", () => {
    const verdicts = [true, false].map((withLibrary) => {
      const world = new MacosWorld(withLibrary);
      world.start({ pid: PID, serial: 2, start });
      const recorded = record(world);
      world.start({ pid: PID, serial: 3, start });
      return world.observer().verdict(recorded).kind;
    });
    expect(verdicts).toEqual(["replaced", "current"]);
  });

  it("are the same on Windows, where both read the same time", () => {
    expect(record(new WindowsWorld(true))).toEqual(record(new WindowsWorld(false)));
  });
});
