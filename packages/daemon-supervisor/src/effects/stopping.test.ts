import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLifeline, createObserver, holdLifeline } from "@holdfast/shared-process";
import { FakeClock, FakeProcessTable } from "@holdfast/shared-process/testing";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { newCounters } from "../counters.ts";
import { freshOf, intentOf, processOf } from "../lifecycle/samples.testing.ts";
import type { StateName, WorkerProcess } from "../lifecycle/state.ts";
import { Registry } from "../registry.ts";
import { Watcher } from "./watch.ts";

const PID = 50;
const worker = { pid: PID, startTicks: "5000", environment: { HOLDFAST_GENERATION: "g" } };
const stranger = { ...worker, startTicks: "9000", environment: {} };

/** The reducer, the registry and the signals of the product, over a process table and a clock of the test's. */
function worldOf(
  backend: "narrow" | "pidfd",
  process: Partial<Parameters<FakeProcessTable["start"]>[0]> = {},
  lifelinePath: string | null = null,
) {
  const table = new FakeProcessTable();
  table.start({ ...worker, ...process });
  const clock = new FakeClock();
  const pidfds = backend === "pidfd" ? { pidfds: table.pidfds() } : {};
  const observer = createObserver({ mode: "narrow", ports: table, clock, ...pidfds });
  const identified = observer.identify(PID);
  const effects: string[] = [];
  const registry: Registry = new Registry({
    clock,
    persist: async () => undefined,
    run: (stamp, effect) => {
      if (effect.type === "signal") effects.push(effect.signal);
      if (effect.type === "signal") watcher.signal(stamp, effect.process, effect);
      if (effect.type === "watch") watcher.watch(stamp.sessionId, effect.process);
    },
    fresh: () => freshOf("f"),
    onPublished: () => undefined,
    onProblem: (_sessionId, message) => expect.fail(message),
    onDecision: () => undefined,
  });
  const log = pino({ level: "silent" });
  const watcher = new Watcher(
    { observer, counters: newCounters(), registry, log, clock },
    { handleOf: () => null },
    { collect: () => {} },
  );
  const identity = identified.kind === "identified" ? identified.identity : processOf("g").identity;
  const recorded: WorkerProcess = { ...processOf("g"), identity, lifelinePath };
  registry.enroll("s", { name: "reconnecting", process: recorded, launches: [], due: null }, []);
  /** Lets the outbox do what it has to, then time pass, in steps as small as the watch's. */
  const pass = async (milliseconds: number): Promise<void> => {
    for (let passed = 0; passed < milliseconds; passed += 50) {
      await registry.drained();
      clock.advance(50);
    }
    await registry.drained();
  };
  const stop = async (): Promise<void> => {
    registry.dispatch("s", { type: "stop", intent: intentOf("stop") });
    await registry.drained();
  };
  const state = (): StateName | undefined => registry.newest("s")?.name;
  const signals = (): string[] => table.delivered.map(({ pid, signal }) => `${signal} ${pid}`);
  return { table, pass, stop, state, signals, effects };
}

describe.each(["narrow", "pidfd"] as const)("with the %s back-end", (backend) => {
  const world = (process: Parameters<typeof worldOf>[1] = {}) => worldOf(backend, process);

  it("I1 a stop does not wait for a lifeline that somebody else holds longer", async () => {
    const folder = mkdtempSync(join(tmpdir(), "hf-stopping-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "lifeline");
    await createLifeline(path);
    const other = holdLifeline(path);
    onTestFinished(() => other[Symbol.dispose]());
    const { table, pass, stop, state } = worldOf(backend, {}, path);
    await stop();
    table.reap(PID);
    await pass(200);
    expect(state()).toBe("finalizing");
  });

  it("I2 I10 a worker that ignores SIGTERM gets SIGKILL 5 s after the deadline, and is finalized once it is gone", async () => {
    const { pass, stop, state, signals } = world({ ignores: ["SIGTERM"] });
    await stop();
    await pass(6_900);
    expect([state(), signals()]).toEqual(["stopping", [`SIGTERM ${PID}`]]);
    await pass(200);
    expect([state(), signals()]).toEqual(["finalizing", [`SIGTERM ${PID}`, `SIGKILL ${PID}`]]);
  });

  it("I7 I8 I42 I80 a number that is somebody else's by the time of the kill: finalized, and the stranger is not signalled", async () => {
    const { table, pass, stop, state, signals } = world({ ignores: ["SIGTERM"] });
    await stop();
    await pass(3_000);
    table.start(stranger);
    await pass(10_000);
    expect([state(), signals()]).toEqual(["finalizing", [`SIGTERM ${PID}`]]);
  });

  it("I18 the kill looks afresh in its own turn: a number that changes hands just before it is not signalled", async () => {
    const { table, pass, stop, state, signals, effects } = world({ ignores: ["SIGTERM"] });
    await stop();
    await pass(6_900);
    // Behind the first look of the signal itself, which found the worker. Another start is all that tells the two apart.
    table.beforeCall = (call) => {
      const isLate = effects.at(-1) === "SIGKILL" && call.endsWith(`/proc/${PID}/environ`);
      if (isLate) table.start({ ...worker, startTicks: "9000" });
    };
    await pass(1_000);
    expect(effects).toEqual(["SIGTERM", "SIGKILL"]);
    expect([state(), signals()]).toEqual(["finalizing", [`SIGTERM ${PID}`]]);
  });

  it("I11 I16 I19 I44 I79 what cannot be observed is neither signalled nor finalized, and the kill stays armed", async () => {
    const { table, pass, stop, state, signals } = world({ ignores: ["SIGTERM"] });
    await stop();
    table.change(PID, { unreadable: { stat: "EACCES", status: "EACCES", environ: "EACCES" } });
    await pass(60_000);
    expect([state(), signals()]).toEqual(["stopping", [`SIGTERM ${PID}`]]);
    table.change(PID, { unreadable: {} });
    await pass(1_100);
    expect([state(), signals()]).toEqual(["finalizing", [`SIGTERM ${PID}`, `SIGKILL ${PID}`]]);
  });

  it("I12 I131 a process of the right number and start that is not of this launch gets no signal", async () => {
    const { pass, stop, state, signals } = world({ environment: { HOLDFAST_GENERATION: "another" } });
    await stop();
    await pass(20_000);
    expect([state(), signals()]).toEqual(["stopping", []]);
  });

  it("I3 a zombie is gone", async () => {
    const { table, pass, stop, state, signals } = world();
    table.end(PID);
    await stop();
    await pass(100);
    expect([state(), signals()]).toEqual(["finalizing", []]);
  });
});
