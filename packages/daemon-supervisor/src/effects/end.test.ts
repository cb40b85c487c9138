import { readRetained, sessionDirectory } from "@holdfast/session-worker/transport";
import { expect, it } from "vitest";
import { freshOf, intentOf } from "../lifecycle/samples.testing.ts";
import type { State } from "../lifecycle/state.ts";
import { HOME, SESSION, World } from "../world.testing.ts";

type Goal = "stop" | "archive";

const SOCKET = `${HOME}/run/g.sock`;
const JOURNAL = `${sessionDirectory(HOME, SESSION)}/journal`;

/** A stop whose worker is proven gone, with the files of that one or with prompts that it did not dispatch. */
async function stopped(goal: Goal, ...prompts: string[]): Promise<World> {
  const world = await World.create();
  await world.admit(...prompts);
  const process = prompts.length > 0 ? null : world.worker();
  if (process) world.disk.plant(process.socketPath, Buffer.from(""));
  const intent = intentOf(goal);
  const finalizing = { process, launches: [], intent, since: 0, problem: null, due: null };
  world.enroll({ name: "finalizing", ...finalizing }, { type: "finalize", process, intent });
  return world;
}

const lines = (world: World, type: string): number => world.transcript().filter((line) => line.type === type).length;
const isWaiting = (state: State | null): boolean => state?.name === "recovering" && state.phase === "waiting";

/** Rescinds a stop after so many turns, unless its clean-up is over by then, and looks what became of its prompt. */
async function rescindAfter(turns: number, goal: Goal): Promise<"over" | "kept" | "cancelled"> {
  const world = await stopped(goal, "r");
  await world.turns(turns);
  if (world.state() === null) return "over";
  const before = [lines(world, "action_cancelled"), lines(world, "state")];
  world.registry.dispatch(SESSION, { type: "resume", by: "resume", fresh: freshOf("h") });
  await world.until(() => isWaiting(world.state()));
  await world.registry.drained();
  expect([lines(world, "action_cancelled"), lines(world, "state")], `after ${turns} turns`).toEqual(before);
  const store = await world.open("h");
  const kept = store.actions().map(({ requestId }) => requestId);
  await store.close();
  expect(kept, `after ${turns} turns`).toEqual(before[0] === 0 ? ["r"] : []);
  expect(world.context.catalog.get(SESSION)?.wanted).toBe("running");
  return before[0] === 0 ? "kept" : "cancelled";
}

it.each(["stop", "archive"] as const)(
  "I17 I118 the clean-up of %s that a resume rescinds at any moment of its clean-up cancels and says nothing from then on",
  async (goal) => {
    const outcomes = new Set<string>();
    for (let turns = 0; !outcomes.has("over"); turns += 1) outcomes.add(await rescindAfter(turns, goal));
    expect(outcomes).toEqual(new Set(["kept", "cancelled", "over"]));
  },
);

it("I17 a clean-up that is rescinded at any moment removes nothing from then on: the next one finds it as it was", async () => {
  const outcomes = new Set<string>();
  for (let turns = 0; !outcomes.has("over"); turns += 1) {
    const world = await stopped("stop");
    const exist = (): string => [SOCKET, JOURNAL].map((path) => world.disk.exists(path)).join();
    await world.turns(turns);
    const before = world.state() === null ? "over" : exist();
    outcomes.add(before);
    // Whoever cleans up looks at the processes first.
    const found = new Set<string>();
    world.table.beforeCall = () => void found.add(exist());
    world.registry.dispatch(SESSION, { type: "resume", by: "resume", fresh: freshOf("h") });
    if (before !== "over") await world.until(() => isWaiting(world.state()));
    expect([...found], `after ${turns} turns`).toEqual(before === "over" ? [] : [before]);
  }
  expect(outcomes).toEqual(new Set(["true,true", "true,false", "over"]));
});

/** A session that a stop left a process of, which its journal names; its worker is gone. */
async function retaining(...pids: number[]): Promise<{ world: World; retained: () => number[] }> {
  const world = await World.create();
  const store = await world.open("g");
  for (const pid of pids) {
    world.table.start({ pid });
    const seen = world.context.observer.identify(pid);
    if (seen.kind !== "identified") throw new Error(seen.why);
    await store.retained.add({ identity: seen.identity, command: "left", marker: "m", marked: true, kept: false });
  }
  await store.close();
  const directory = sessionDirectory(HOME, SESSION);
  return { world, retained: () => readRetained(directory, world.disk).map(({ identity }) => identity.pid) };
}

const finalizing = (goal: Goal) =>
  ({ process: null, launches: [], intent: intentOf(goal), since: 0, problem: null, due: null }) as const;
const finalize = { type: "finalize", process: null, intent: intentOf("stop") } as const;

it("I36 a clean-up ends the entries of processes that are proven gone, whoever left them, and no other", async () => {
  const { world, retained } = await retaining(50, 51);
  world.table.reap(50);
  world.enroll({ name: "finalizing", ...finalizing("stop") }, finalize);
  await world.until(() => world.state() === null);
  expect(retained()).toEqual([51]);
});

it("I32 I35 a clean-up that loses the journal is not over: nothing is recorded as ended, and nothing is removed", async () => {
  const { world, retained } = await retaining(50);
  world.table.reap(50);
  // Another owner opens it in the middle of the clean-up, whose records are refused from then on.
  world.table.beforeCall = () => {
    world.table.beforeCall = () => {};
    void world.open("other");
  };
  world.enroll({ name: "finalizing", ...finalizing("stop") }, finalize);
  await world.until(() => world.state()?.name === "finalizing" && world.state()?.due !== null);
  expect(world.state()).toMatchObject({ problem: expect.stringMatching(/journal/) });
  expect([retained(), world.disk.exists(JOURNAL)]).toEqual([[50], true]);
});

it("I31 a clean-up is tried again for as long as its stop stands, however often, and for no other stop", async () => {
  const { world } = await retaining();
  world.disk.inject({ call: "open", errno: "EIO", pathEnds: "transcript.jsonl", lasting: true });
  world.enroll({ name: "finalizing", ...finalizing("stop") }, finalize);
  const tries = (stopId: string): number =>
    world.effects.filter((effect) => effect.type === "finalize" && effect.intent.stopId === stopId).length;
  await world.until(() => tries("s") === 12);
  world.registry.dispatch(SESSION, { type: "stop", intent: intentOf("archive", "a") });
  const before = tries("s");
  await world.until(() => tries("a") === 3);
  expect(tries("s")).toBe(before);
  world.disk.heal();
  await world.until(() => world.state() === null);
  expect(world.context.catalog.get(SESSION)?.wanted).toBe("archived");
});

it("I167 ends what only its descent told also when its clean-up comes again", async () => {
  const [pid, left] = [4_190_050, 4_190_060];
  const { world, retained } = await retaining();
  world.table.start({ pid });
  const seen = world.context.observer.identify(pid);
  if (seen.kind !== "identified") throw new Error(seen.why);
  // It has neither the marker nor, soon, a parent, and it cannot be killed: it is to be listed.
  world.table.start({ pid: left, ppid: pid, ignores: ["SIGTERM", "SIGKILL"] });
  const process = { ...world.worker(), identity: seen.identity };
  world.collected.collect(process);
  world.table.reap(pid);
  world.table.change(left, { ppid: 1 });
  world.disk.inject({ call: "open", errno: "EIO", pathEnds: "transcript.jsonl", lasting: true });
  world.enroll({ name: "finalizing", ...finalizing("stop"), process }, { ...finalize, process });
  await world.until(() => world.state()?.due !== null);
  world.disk.heal();
  await world.until(() => world.state() === null);
  expect(retained()).toEqual([left]);
});

const TRANSCRIPT = `${sessionDirectory(HOME, SESSION)}/transcript.jsonl`;

it("I71 I167 a transcript in whose place something else is holds up no stop, and stays as it is", async () => {
  const world = await stopped("stop", "r");
  world.disk.rename(TRANSCRIPT, `${TRANSCRIPT}.mine`);
  world.disk.mkdir(TRANSCRIPT, 0o700);
  await world.until(() => world.state() === null);
  expect(world.context.catalog.get(SESSION)?.wanted).toBe("stopped");
  world.disk.rmdir(TRANSCRIPT);
  world.disk.rename(`${TRANSCRIPT}.mine`, TRANSCRIPT);
  expect((await world.open("h")).actions()).toMatchObject([{ requestId: "r" }]);
});

it("I137 I154 a recovery that finds something else in the transcript's place ends as failed, and says what", async () => {
  const world = await World.create();
  const process = world.worker();
  world.disk.mkdir(TRANSCRIPT, 0o700);
  const settling = {
    name: "recovering",
    process,
    launches: [],
    phase: "settling",
    terminal: null,
    cause: null,
  } as const;
  world.enroll({ ...settling, due: null }, { type: "settle", process });
  await world.until(() => world.state()?.name === "failed");
  expect(world.state()).toMatchObject({
    reason: expect.stringMatching(/transcript\.jsonl is not a regular file; agent doctor/),
  });
});
