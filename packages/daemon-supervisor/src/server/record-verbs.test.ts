import { sessionDirectory } from "@holdfast/session-worker/transport";
import { expect, it } from "vitest";
import { readWorkerFiles } from "../descriptor-files.ts";
import { intentOf, sampleStates } from "../lifecycle/samples.testing.ts";
import { HOME, SESSION, World } from "../world.testing.ts";
import { unarchive } from "./record-verbs.ts";

const finalizing = sampleStates.finalizing[0]!;
const STOP = "01a2aaaa-0000-7000-8000-0000000000f1";

/** A session that a full disk let be archived by a bare name alone, and that has room since. */
async function archivedByName(): Promise<World> {
  const world = await World.create();
  for (const folder of ["/", HOME, `${HOME}/sessions`, sessionDirectory(HOME, SESSION)])
    world.disk.fsync(world.disk.open(folder, 0));
  world.disk.inject({ call: "write", errno: "ENOSPC", lasting: true });
  const last = { ...finalizing, intent: intentOf("archive", STOP) };
  await world.records.persist(SESSION, { state: null, last, request: null });
  world.disk.heal();
  expect(world.files(`${HOME}/workers`)).toEqual([`${HOME}/workers/${SESSION}.${STOP}.archive`]);
  return world;
}

it.each([
  { call: "unlink", pathEnds: ".archive" },
  { call: "fsync", pathEnds: "/workers" },
] as const)(
  "I129 I143 a repeat is told that a session is unarchived once no bare name can undo it, where $call failed at first",
  async (fault) => {
    const world = await archivedByName();
    const services = world.services();
    const ask = () => unarchive(services, { session: SESSION, requestId: "r" });
    world.disk.inject({ ...fault, errno: "EIO" });
    await expect(ask()).rejects.toMatchObject({ code: "EIO" });
    expect(await ask()).toMatchObject({ lifecycle: "live", state: "stopped" });
    const named = [...world.disk.crashStates()].map((state) => readWorkerFiles(state, HOME).intents.size);
    expect(new Set(named)).toEqual(new Set([0]));
  },
);
