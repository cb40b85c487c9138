import { describe, expect, it } from "vitest";
import type { Signal, SignalOutcome } from "../types.ts";
import { MacosWorld, PID, record, variants, WindowsWorld, type World } from "./system-worlds.testing.ts";

const SENT = { kind: "sent", via: "audit-token" } as const;
const notSent = (why: string): object => ({ kind: "not-sent", verdict: { kind: "unknown", why } });
const REPLACED = { kind: "not-sent", verdict: { kind: "replaced", by: "process" } };
const marker = { name: "GENERATION", value: "g1" };

const via: Record<string, string> = {
  "macos-library": "audit-token",
  "macos-narrow": "narrow-window",
  "windows-library": "process-object",
  "windows-narrow": "process-object",
};

function signalAfter(world: World, change: (world: World) => void, signal: Signal = "SIGKILL"): SignalOutcome {
  const observer = world.observer();
  const recorded = record(world, observer);
  change(world);
  return observer.signal(recorded, signal);
}

const bound = variants.filter(({ name }) => name !== "macos-narrow");

describe.each(variants)("a signal by $name", ({ name, create }) => {
  it.each(["SIGKILL", "SIGTERM"] as const)("I16 I95 reaches the recorded process: %s", (signal) => {
    const world = create();
    expect(signalAfter(world, () => {}, signal)).toEqual({ kind: "sent", via: via[name] });
    const delivered = name.startsWith("macos") ? signal : "SIGKILL";
    expect(world.delivered).toEqual([{ serial: 2, signal: delivered }]);
  });

  it.each([null, "", "TERM"])("I16 is denied for a name that is none: %s", (signal) => {
    const world = create();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as from a file that was believed
    expect(signalAfter(world, () => {}, signal as Signal)).toEqual({ kind: "denied", errno: "EINVAL" });
    expect(world.delivered).toEqual([]);
  });

  it.each<[string, (world: World) => void, string]>([
    ["I3 a zombie", (world) => world.change({ state: "Z" }), "gone"],
    ["nothing", (world) => world.reap(), "gone"],
    ["I131 another's", (world) => world.start({ pid: PID, serial: 3 }), "replaced"],
    ["I11 hidden", (world) => world.change({ hidden: true }), "unknown"],
  ])("I16 is not sent when what has the number is %s", (_title, change, kind) => {
    const world = create();
    expect(signalAfter(world, change)).toMatchObject({ kind: "not-sent", verdict: { kind } });
    expect(world.delivered).toEqual([]);
  });

  it("I105 is denied by a process of another user", () => {
    const world = create();
    expect(signalAfter(world, () => world.change({ foreign: true }))).toEqual({ kind: "denied", errno: "EPERM" });
    expect(world.delivered).toEqual([]);
  });

  it("is never sent to process 1 or to the caller", () => {
    const world = create();
    const observer = world.observer();
    expect(observer.signal(observer.self(), "SIGTERM")).toEqual(notSent("unsupported"));
    expect(observer.signalGroup(observer.self(), "SIGTERM")).toEqual(notSent("unsupported"));
    // The same start and kernel id, so that the record names it.
    world.start({ pid: 1, serial: 2 });
    const init = { ...record(world, observer), pid: 1 };
    // Windows has no process 1: its numbers are multiples of 4.
    const refusal = notSent(world instanceof MacosWorld ? "unsupported" : "unparsable");
    expect(observer.signal(init, "SIGTERM")).toEqual(refusal);
    expect(observer.signalGroup(init, "SIGTERM")).toEqual(refusal);
    expect(world.delivered).toEqual([]);
  });

  it("in refuse mode is sent only where the system binds it to the process", () => {
    const world = create();
    const observer = world.observer("refuse");
    const isBound = bound.some((variant) => variant.name === name);
    expect(observer.capabilities().boundSignals).toBe(isBound);
    expect(observer.signal(record(world, observer), "SIGTERM")).toEqual(
      isBound ? { kind: "sent", via: via[name] } : notSent("unsupported"),
    );
    expect(world.delivered).toHaveLength(isBound ? 1 : 0);
  });

  it("says so when the process ends after the look", () => {
    const world = create();
    const outcome = signalAfter(world, () => {
      world.beforeCall = (call) => {
        if (call === `signal ${PID}` || call === `kill ${PID} SIGKILL`) world.reap();
      };
    });
    expect(outcome).toEqual({ kind: "not-sent", verdict: { kind: "gone", why: "no-such-pid" } });
    expect(world.delivered).toEqual([]);
  });
});

describe("a bound signal", () => {
  it.each(bound)("I131 hits nobody when the number is given away after the look: $name", ({ create }) => {
    const world = create();
    const outcome = signalAfter(world, () => {
      world.beforeCall = (call) => {
        if (call === `signal ${PID}`) world.start({ pid: PID, serial: 3 });
      };
    });
    expect(world.calls).toContain(`signal ${PID}`);
    expect(outcome).toEqual(REPLACED);
    expect(world.delivered).toEqual([]);
  });
});

describe("on macOS", () => {
  it("looks last of all before the kill in narrow mode", () => {
    const world = new MacosWorld(false);
    signalAfter(world, () => {}, "SIGTERM");
    expect(world.calls.at(-2)).toMatch(/^\/bin\/ps /);
    expect(world.calls.at(-1)).toBe(`kill ${PID} SIGTERM`);
  });

  it("tries again when an exec made the audit token stale, and gives up on one that never rests", () => {
    for (const [execs, outcome] of [
      [2, SENT],
      [3, { kind: "denied", errno: "ESRCH" }],
    ] as const) {
      const world = new MacosWorld(true);
      let left = execs;
      const seen = signalAfter(world, () => {
        world.beforeCall = (call) => {
          if (call === `signal ${PID}` && left-- > 0) world.change({ idVersion: 1_000 + left });
        };
      });
      expect(seen).toEqual(outcome);
      expect(world.calls.filter((call) => call === `signal ${PID}`)).toHaveLength(3);
    }
  });

  it("needs exactly the entry that is asked for in the environment", () => {
    const outcomes = ["g1", "g", "g2", "argument"].map((value) => {
      const world = new MacosWorld(true);
      const observer = world.observer();
      const outcome = observer.signal(record(world, observer), "SIGTERM", { environment: { ...marker, value } });
      expect(world.delivered).toHaveLength(value === "g1" ? 1 : 0);
      return outcome;
    });
    const missing = notSent("marker-missing");
    expect(outcomes).toEqual([SENT, missing, missing, missing]);
  });

  it("I134 sends nothing when the environment cannot be read", () => {
    const world = new MacosWorld(true);
    const observer = world.observer();
    const recorded = record(world, observer);
    world.change({ foreign: true });
    expect(observer.signal(recorded, "SIGTERM", { environment: marker })).toEqual(notSent("denied"));
  });

  it("I131 hits nobody when the number is given away while the environment is read", () => {
    const world = new MacosWorld(true);
    const observer = world.observer();
    const recorded = record(world, observer);
    world.beforeCall = (call) => {
      if (call.startsWith("environment")) world.start({ pid: PID, serial: 3 });
    };
    expect(observer.signal(recorded, "SIGTERM", { environment: marker })).toEqual(REPLACED);
    expect(world.delivered).toEqual([]);
  });

  it("names the end of a process that ended while its environment was read", () => {
    const world = new MacosWorld(true);
    const observer = world.observer();
    const recorded = record(world, observer);
    world.beforeCall = (call) => {
      if (call.startsWith("environment")) world.reap();
    };
    const outcome = observer.signal(recorded, "SIGTERM", { environment: marker });
    expect(outcome).toEqual({ kind: "not-sent", verdict: { kind: "gone", why: "no-such-pid" } });
  });

  describe.each([true, false])("a signal to a group (library: %s)", (withLibrary) => {
    const group = (change: (world: World) => void, mode: "refuse" | "narrow" = "narrow") => {
      const world = new MacosWorld(withLibrary);
      const observer = world.observer(mode);
      const recorded = record(world, observer);
      change(world);
      return { outcome: observer.signalGroup(recorded, "SIGTERM"), delivered: world.delivered };
    };
    const reached = {
      outcome: { kind: "sent", via: "narrow-window" },
      delivered: [{ serial: 2, signal: "SIGTERM", toGroup: true }],
    };

    it.each<[string, (world: World) => void]>([
      ["runs", () => {}],
      ["I97 is a zombie", (world) => world.change({ state: "Z" })],
    ])("is sent while its leader %s", (_title, change) => {
      expect(group(change)).toEqual(reached);
    });

    it.each<[string, (world: World) => void, string]>([
      ["its leader is reaped", (world) => world.reap(), "gone"],
      ["the number is another's", (world) => world.start({ pid: PID, serial: 3 }), "replaced"],
      ["the number is another's zombie", (world) => world.start({ pid: PID, serial: 3, state: "Z" }), "replaced"],
      ["its leader is hidden", (world) => world.change({ hidden: true }), "unknown"],
      ["the process leads no group", (world) => world.change({ group: 40 }), "unknown"],
    ])("I96 is not sent when %s", (_title, change, kind) => {
      expect(group(change)).toMatchObject({ outcome: { kind: "not-sent", verdict: { kind } }, delivered: [] });
    });

    it("is never sent in refuse mode, since no system binds it", () => {
      expect(group(() => {}, "refuse")).toEqual({ outcome: notSent("unsupported"), delivered: [] });
    });
  });

  it("needs the marker in the leader's environment for a group too, which a zombie has not", () => {
    const world = new MacosWorld(true);
    const observer = world.observer();
    const recorded = record(world, observer);
    expect(observer.signalGroup(recorded, "SIGTERM", { environment: marker }).kind).toBe("sent");
    world.change({ state: "Z" });
    expect(observer.signalGroup(recorded, "SIGTERM", { environment: marker })).toEqual(notSent("denied"));
    expect(world.delivered).toHaveLength(1);
  });
});

describe("where the system has no such thing", () => {
  it.each([() => new MacosWorld(false), () => new WindowsWorld(true), () => new WindowsWorld(false)])(
    "sends nothing that asks for a marker (%#)",
    (create) => {
      const world = create();
      const observer = world.observer();
      const outcome = observer.signal(record(world, observer), "SIGTERM", { environment: marker });
      expect(outcome).toEqual(notSent("unsupported"));
      expect(world.delivered).toEqual([]);
    },
  );

  it.each([true, false])("knows no signal that does not end on Windows, and no groups (library: %s)", (withLibrary) => {
    const world = new WindowsWorld(withLibrary);
    const observer = world.observer();
    const recorded = record(world, observer);
    for (const signal of ["SIGINT", "SIGHUP", "SIGSTOP", "SIGCONT"] as const) {
      expect(observer.signal(recorded, signal)).toEqual({ kind: "denied", errno: "ENOSYS" });
    }
    expect(observer.signalGroup(recorded, "SIGKILL")).toEqual(notSent("unsupported"));
    expect(world.delivered).toEqual([]);
  });
});
