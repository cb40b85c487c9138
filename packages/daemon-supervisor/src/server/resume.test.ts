import { sessionRecordPath } from "@holdfast/session-worker/transport";
import { expect, it } from "vitest";
import { missingEnvironment, secretsOf } from "../effects/context.ts";
import { freshOf, processOf } from "../lifecycle/samples.testing.ts";
import type { State } from "../lifecycle/state.ts";
import { sessionRecordOf } from "../session-record.testing.ts";
import { HOME, SESSION, World } from "../world.testing.ts";
import { Creations } from "./create.ts";
import { resume } from "./resume.ts";

const failed: State = {
  name: "failed",
  process: null,
  launches: [],
  reason: "values are missing",
  code: "needs_fresh_environment",
  due: null,
};

/** A session that needs the values of `names`, which nobody has in memory. */
async function needing(names: readonly string[], state: State | null = failed, wanted?: "stopped" | "archived") {
  const world = await World.create({ name: "build", secretNames: [...names], ...(wanted ? { wanted } : {}) });
  const isSettling = state?.name === "recovering" && state.process !== null;
  if (state) world.enroll(state, ...(isSettling ? [{ type: "settle", process: state.process } as const] : []));
  await world.registry.drained();
  const services = world.services();
  const ask = (requestId: string, secretEnvironment: Record<string, string>): Promise<string> =>
    resume(services, { session: SESSION, requestId, secretEnvironment }).then(
      () => "ready",
      (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : String(error)),
    );
  const spawned = (): number => world.effects.filter(({ type }) => type === "spawn").length;
  const settled = async <T>(asked: Promise<T>): Promise<T> => {
    let isOver = false;
    void asked.finally(() => (isOver = true));
    await world.until(() => isOver);
    return await asked;
  };
  return { world, ask, spawned, settled, held: () => world.context.secrets.get(SESSION) ?? {} };
}

/** What the launch that is under way comes to: nothing. */
const failLaunch = (world: World): void => {
  const state = world.state();
  if (state?.name !== "launching") throw new Error(`it is ${state?.name ?? "absent"}`);
  const { generation } = state;
  const event = { type: "spawn_failed", generation, terminal: true, reason: "no", code: null } as const;
  world.answer({ ...event, fresh: freshOf("f") });
};

it("I60 values of a resume that is refused are not kept: not for want of others, and not for its name", async () => {
  const lacking = await needing(["A", "B"]);
  expect(await lacking.settled(lacking.ask("r", { A: "1" }))).toBe("needs_fresh_environment");
  expect([lacking.held(), missingEnvironment(lacking.world.context, SESSION)]).toEqual([{}, ["A", "B"]]);
  const archived = await needing(["A"], null, "archived");
  const other = "01a2aaaa-0000-7000-8000-000000000002";
  archived.world.disk.mkdir(`${HOME}/sessions/${other}`, 0o700);
  await archived.world.context.catalog.create(sessionRecordOf(other, { name: "build" }));
  expect(await archived.settled(archived.ask("r", { A: "1" }))).toBe("name_in_use");
  expect([archived.held(), archived.spawned()]).toEqual([{}, 0]);
});

it.each([
  ["failed", failed],
  ["stopped", null],
] as const)("I58 resumes of a %s session share one launch, with the values of the first", async (_name, state) => {
  const { world, ask, spawned, settled } = await needing(["A"], state, "stopped");
  const both = Promise.all([ask("r1", { A: "first" }), ask("r2", { A: "second" })]);
  await world.until(() => spawned() > 0);
  await world.turns(50);
  expect([spawned(), secretsOf(world.context, SESSION)]).toEqual([1, { A: "first" }]);
  failLaunch(world);
  expect(await settled(both)).toEqual(["session_failed", "session_failed"]);
  expect(secretsOf(world.context, SESSION)).toEqual({ A: "first" });
});

it("I58 I60 a resume of a session that runs changes none of its values", async () => {
  const { world, ask, held } = await needing(["A"]);
  world.context.secrets.set(SESSION, { A: "its own" });
  const process = world.worker();
  world.enroll({ name: "ready", process, launches: [], due: null });
  void ask("r", { A: "another", B: "new" });
  await world.turns(100);
  expect(held()).toEqual({ A: "its own" });
});

it("I58 a resume that joins a recovery brings what nobody has, so that the recovery goes on", async () => {
  const settling = {
    name: "recovering",
    phase: "settling",
    terminal: null,
    cause: null,
    launches: [],
    due: null,
  } as const;
  const { world, ask, held } = await needing(["A"], { ...settling, process: processOf("g") });
  void ask("r", { A: "1", B: "of no use" });
  await world.until(() => held()["A"] !== undefined);
  await world.until(() => world.state()?.due !== null);
  expect([world.state()?.name, held()]).toEqual(["recovering", { A: "1" }]);
});

it("I57 I59 names that a resume brings are recorded with its effect, and no value is on disk", async () => {
  const { world, ask, spawned } = await needing(["A"], null, "stopped");
  void ask("r", { A: "value-of-a", NEW: "value-of-new" });
  await world.until(() => spawned() > 0);
  const record = JSON.parse(world.disk.contentOf(sessionRecordPath(HOME, SESSION)).toString("utf8"));
  expect(record.secretNames).toEqual(["A", "NEW"]);
  expect(secretsOf(world.context, SESSION)).toEqual({ A: "value-of-a", NEW: "value-of-new" });
  const telling = world.files().filter((path) => world.disk.contentOf(path).includes("value-of-"));
  expect(telling).toEqual([]);
});

it("I57 of a client's environment only what is on the list is stored, and of --env only the names", async () => {
  const world = await World.create();
  const environment = { PATH: "/bin", LANG: "C", AWS_SECRET: "unlisted", npm_config_auth: "unlisted" };
  const params = { requestId: "r", cwd: "/", environment, secretEnvironment: { KEY: "by-hand" } };
  void new Creations(world.services()).create(params).catch(() => undefined);
  await world.until(() => world.effects.some(({ type }) => type === "spawn"));
  const made = world.context.catalog.get(world.context.catalog.createdBy("r")?.sessionId ?? "");
  expect(made).toMatchObject({ environment: { PATH: "/bin", LANG: "C" }, secretNames: ["KEY"] });
  expect(Object.keys(made?.environment ?? {})).toHaveLength(2);
  expect(world.files().length).toBeGreaterThan(1);
  expect(world.files().filter((path) => /unlisted|by-hand/.test(world.disk.contentOf(path).toString("utf8")))).toEqual(
    [],
  );
});

it("I142 nothing is launched of a session whose record is found damaged while its resume is under way", async () => {
  const { world, ask, spawned } = await needing([], null, "stopped");
  const path = sessionRecordPath(HOME, SESSION);
  let reads = 0;
  world.disk.onCall = (call, closed) => {
    if (call !== "close" || closed !== path) return;
    reads += 1;
    // The last look before anything is decided.
    if (reads === 2) world.disk.plant(path, Buffer.from("{"));
  };
  expect(await ask("r", {})).toBe("session_quarantined");
  expect([spawned(), world.state(), reads]).toEqual([0, null, 3]);
});
