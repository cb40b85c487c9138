import { ProtocolError } from "@holdfast/client/protocol";
import { requestHash } from "@holdfast/session-worker/transport";
import type { SessionStore } from "@holdfast/session-worker/transport";
import { expect, it } from "vitest";
import type { State } from "../lifecycle/state.ts";
import { sessionRecordOf } from "../session-record.testing.ts";
import { HOME, SESSION, World } from "../world.testing.ts";
import { Creations } from "./create.ts";
import { stop } from "./stop.ts";
import { submit } from "./submit.ts";

function stoppingOf(world: World): State {
  const process = world.worker();
  const intent = { stopId: "s", requestedAt: "2026-01-01T00:00:00.000Z", goal: "stop", force: false } as const;
  const asked = {
    name: "stopping",
    phase: "asked",
    graceEndsAt: null,
    since: 0,
    due: { timer: "silence", at: 60_000 },
  } as const;
  return { ...asked, process, generation: process.generation, launches: [], intent };
}

it("I76 a request that waited for its turn looks again where it belongs: the files that it waited for may be closed", async () => {
  const world = await World.create();
  const { stores } = world;
  const waiting = {
    name: "recovering",
    phase: "waiting",
    terminal: null,
    cause: null,
    launches: [],
    due: { timer: "relaunch", at: 10 * 60_000 },
  } as const;
  world.enroll({ ...waiting, process: world.worker() });
  await world.registry.drained();
  await stores.inLane(SESSION, () => stores.open(SESSION));
  const first = stores.current(SESSION);
  let end!: () => void;
  const held = new Promise<void>((resolve) => (end = resolve));
  // While the request waits behind it, this closes the files and opens them anew, as a settling that failed does.
  const before = stores.inLane(SESSION, async () => {
    await held;
    await stores.close(SESSION);
    await stores.open(SESSION);
  });
  let answer: object | null = null;
  const asked = submit(world.services(), "prompt", { session: SESSION, requestId: "r", text: "echo" });
  void asked.then((given) => (answer = given));
  await world.turns(50);
  end();
  await before;
  await world.until(() => answer !== null);
  expect(stores.current(SESSION)).not.toBe(first);
  expect(stores.current(SESSION)?.actions()).toMatchObject([{ requestId: "r", phase: "accepted" }]);
});

const ask = (world: World, requestId: string, text = "echo"): Promise<string> =>
  submit(world.services(), "prompt", { session: SESSION, requestId, text }).then(
    ({ actionId }) => actionId,
    (error: unknown) => (error instanceof ProtocolError ? error.code : String(error)),
  );

/** As the worker does that takes it: under the hash that its supervisor sends along. */
async function taken(store: SessionStore, requestId: string): Promise<string> {
  const hash = requestHash("prompt", { sessionId: SESSION, text: "echo" });
  const admitted = await store.admit({ requestId, hash, kind: "prompt", text: "echo" });
  if (admitted.kind !== "accepted") throw new Error(admitted.kind);
  return admitted.action.actionId;
}

it.each(["stopped", "archived"] as const)(
  "I143 a repeat gets its first outcome, also of a session that is %s",
  async (wanted) => {
    const world = await World.create({ wanted });
    const store = await world.open("g");
    const actionId = await taken(store, "r");
    await store.settle(actionId, { outcome: "ended", stopReason: "end_turn" });
    await store.close();
    expect(await ask(world, "r")).toBe(actionId);
    expect(await ask(world, "r", "something else")).toBe("request_id_reused");
    expect(await ask(world, "other")).toBe(`session_${wanted}`);
  },
);

it("I143 a repeat under a stop waits for what the worker has open, and is refused where it has taken nothing", async () => {
  const world = await World.create();
  const store = await world.open("g");
  const actionId = await taken(store, "r");
  world.enroll(stoppingOf(world));
  await world.registry.drained();
  const first = ask(world, "r");
  expect(await ask(world, "other")).toBe("session_stopping");
  await store.cancelAll("stopped");
  await store.close();
  let outcome: string | null = null;
  void first.then((told) => (outcome = told));
  await world.until(() => outcome !== null);
  expect(outcome).toBe(actionId);
});

it("I143 what a repeat finds accepted under a stop that does not end is unknown, and no refusal", async () => {
  const world = await World.create();
  const store = await world.open("g");
  await taken(store, "r");
  world.enroll(stoppingOf(world));
  await world.registry.drained();
  let outcome: string | null = null;
  void ask(world, "r").then((told) => (outcome = told));
  await world.until(() => outcome !== null);
  expect(outcome).toBe("timeout");
});

it("I143 the id of a prompt is refused to a verb, and that of a creation under way to a prompt", async () => {
  const world = await World.create({ wanted: "stopped" });
  const store = await world.open("g");
  await store.settle(await taken(store, "r"), { outcome: "ended", stopReason: "end_turn" });
  await store.close();
  const services = world.services();
  const prompt = (requestId: string): Promise<object> =>
    submit(services, "prompt", { session: SESSION, requestId, text: "echo" });
  await prompt("r");
  await expect(stop(services, { session: SESSION, requestId: "r", wait: true })).rejects.toMatchObject({
    code: "request_id_reused",
  });
  const create = (requestId: string): Promise<object> =>
    new Creations(services).create({ requestId, cwd: "/", environment: {} });
  await expect(create("r")).rejects.toMatchObject({ code: "request_id_reused" });
  const created = create("new");
  void created.catch(() => {
    // It waits for its worker, which this world does not have.
  });
  await expect(prompt("new")).rejects.toMatchObject({ code: "request_id_reused" });
  await expect(stop(services, { session: SESSION, requestId: "new", wait: true })).rejects.toMatchObject({
    code: "request_id_reused",
  });
});

it("I129 a prompt does not bring back a session whose stop was asked for in the same turn", async () => {
  const world = await World.create({ wanted: "passive" });
  world.enroll({ name: "passivated", due: null });
  await world.registry.drained();
  const services = world.services();
  const stopped = stop(services, { session: SESSION, requestId: "s", wait: true });
  await world.until(() => world.state()?.name === "finalizing");
  expect(world.registry.published(SESSION)?.name).toBe("passivated");
  const asked = ask(world, "r");
  let told: string | null = null;
  void asked.then((code) => (told = code));
  await world.until(() => told !== null);
  expect(told).toMatch(/^session_stopp(ing|ed)$/);
  expect(await stopped).toMatchObject({ state: "stopped" });
});

it("I1 I130 a stop that cannot be recorded is not told as under way", async () => {
  const world = await World.create();
  const process = world.worker();
  world.enroll({ name: "ready", process, launches: [], due: null });
  await world.registry.drained();
  world.disk.inject({ call: "fsync", errno: "EIO", lasting: true });
  const asked = (requestId: string): Promise<string> =>
    stop(world.services(), { session: SESSION, requestId, wait: false }).then(
      ({ state }) => state,
      (error: unknown) => (error instanceof ProtocolError ? error.code : String(error)),
    );
  const outcomes: string[] = [];
  void asked("s").then((told) => outcomes.push(told));
  await world.until(() => outcomes.length === 1);
  world.disk.heal();
  void asked("s").then((told) => outcomes.push(told));
  await world.until(() => outcomes.length === 2);
  expect(outcomes).toEqual(["timeout", "stopping"]);
});

it("I129 a stop that waits for its turn behind a resume ends what that has made", async () => {
  const world = await World.create({ wanted: "stopped" });
  const services = world.services();
  let end!: () => void;
  const held = new Promise<void>((resolve) => (end = resolve));
  const before = services.lanes.run(SESSION, async () => {
    await held;
    world.enroll({ name: "passivated", due: null });
  });
  const stopped = stop(services, { session: SESSION, requestId: "s", wait: true });
  await world.turns(50);
  end();
  await before;
  let isOver = false;
  void stopped.finally(() => (isOver = true));
  await world.until(() => isOver);
  expect([(await stopped).state, world.clock.monotonic() < 60_000]).toEqual(["stopped", true]);
});

it("I143 a repeat is for the session that it was for, whoever has the name by now, and for no other", async () => {
  const world = await World.create({ name: "one", wanted: "stopped" });
  const { catalog } = world.context;
  const store = await world.open("g");
  const actionId = await taken(store, "r");
  await store.settle(actionId, { outcome: "ended", stopReason: "end_turn" });
  await store.close();
  const services = world.services();
  const prompt = (session: string): Promise<string> =>
    submit(services, "prompt", { session, requestId: "r", text: "echo" }).then(
      (answer) => answer.actionId,
      (error: unknown) => (error instanceof ProtocolError ? error.code : String(error)),
    );
  expect(await prompt("one")).toBe(actionId);
  await catalog.update(SESSION, (record) => ({ ...record, name: "uno" }));
  expect(await prompt("one")).toBe(actionId);
  const other = "01a2aaaa-0000-7000-8000-000000000002";
  world.disk.mkdir(`${HOME}/sessions/${other}`, 0o700);
  await catalog.create(sessionRecordOf(other, { name: "one" }));
  expect([await prompt("one"), await prompt(other), await prompt(SESSION)]).toEqual([
    actionId,
    "request_id_reused",
    actionId,
  ]);
});
