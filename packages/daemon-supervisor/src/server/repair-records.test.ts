import { dirname } from "node:path";
import type { SimulatedDisk } from "@holdfast/recovery-journal/testing";
import { openSessionStore, requestHash, sessionDirectory, sessionRecordPath } from "@holdfast/session-worker/transport";
import { expect, it } from "vitest";
import { Catalog } from "../catalog.ts";
import { intentPath } from "../descriptor.ts";
import { createMarkerFile } from "@holdfast/recovery-journal";
import { HOME, SESSION, World } from "../world.testing.ts";
import { Creations } from "./create.ts";
import { repair } from "./repair.ts";
import { Requests } from "./requests.ts";
import type { Services } from "./services.ts";

const content = { cwd: "/", environment: {} };
const params = { requestId: "new", ...content };
const hash = requestHash("session/new", { ...content, secretNames: [] });

/** A rename into another folder, which the simulated disk has not. */
function move(disk: SimulatedDisk, source: string, target: string): void {
  if (disk.lstat(source).isDirectory()) {
    disk.mkdir(target, 0o700);
    for (const name of disk.readdir(source)) move(disk, `${source}/${name}`, `${target}/${name}`);
    disk.rmdir(source);
  } else {
    disk.link(source, target);
    disk.unlink(source);
  }
}

const again = (by: Services) => new Creations(by).create(params);

/** What a daemon that comes next makes of the home. */
async function restarted({ services, world }: { services: Services; world: World }): Promise<Services> {
  await services.requests.close();
  const context = { ...world.context, catalog: new Catalog(HOME, world.disk) };
  return {
    ...services,
    context,
    requests: new Requests({ ...context, records: services.records }, () => true, services.submissions),
  };
}

it("I143 a session that was moved aside is not made again by a repeat of what made it, which is told so", async () => {
  const world = await World.create({ wanted: "stopped", creatingRequest: { requestId: "new", hash } });
  const services = world.services();
  const { disk } = world;
  const within = disk.rename.bind(disk);
  disk.rename = (source, target) =>
    dirname(source) === dirname(target) ? within(source, target) : move(disk, source, target);
  expect(await again(services)).toMatchObject({ sessionId: SESSION, state: "stopped", created: true });
  world.disk.plant(sessionRecordPath(HOME, SESSION), Buffer.from("{"));
  await repair(services, { repair: "set_aside_session", subject: SESSION, asserted: true, requestId: "r" });
  const moved = { code: "session_not_found", message: expect.stringContaining(SESSION) };
  await expect(again(services)).rejects.toMatchObject(moved);
  await expect(again(await restarted({ services, world }))).rejects.toMatchObject(moved);
  expect(world.disk.readdir(`${HOME}/sessions`)).toEqual(["index"]);
});

it("I139 I164 whoever loses the home while a repair waits for its turn moves nothing", async () => {
  const world = await World.create({ wanted: "stopped" });
  world.disk.plant(sessionRecordPath(HOME, SESSION), Buffer.from("{"));
  const services: Services = { ...world.services(), status: () => "ownership-lost" };
  const asked = repair(services, { repair: "set_aside_session", subject: SESSION, asserted: true, requestId: "r" });
  await expect(asked).rejects.toMatchObject({ code: "ownership_lost" });
  expect(world.disk.readdir(`${HOME}/sessions`)).toContain(SESSION);
  expect(world.disk.exists(`${HOME}/damaged`)).toBe(false);
});

const releasing = { repair: "release_quarantine", subject: SESSION, asserted: true, requestId: "r" } as const;

it.each([
  ["stop", "stopped"],
  ["archive", "archived"],
] as const)(
  "I6 I129 a bare %s of a session whose quarantine is released is settled by it, and stops nothing later",
  async (goal, wanted) => {
    const world = await World.create();
    const intent = { stopId: "01a2aaaa-0000-7000-8000-0000000000f1", goal, requestedAt: "", force: false };
    createMarkerFile(world.disk, intentPath(HOME, SESSION, intent));
    world.context.catalog.quarantined.set(SESSION, "its descriptor is damaged");
    await repair(world.services(), releasing);
    expect(world.context.catalog.get(SESSION)).toMatchObject({ wanted, overtaken: [intent.stopId] });
    expect(world.disk.readdir(`${HOME}/workers`)).toEqual([]);
  },
);

it("I164 the files of a session whose quarantine is released are nobody's: the worker that comes next opens them", async () => {
  const world = await World.create();
  const store = await world.open("g");
  await store.admit({ requestId: "p", hash: "h", kind: "prompt", text: "p" });
  world.context.catalog.quarantined.set(SESSION, "its descriptor is damaged");
  await repair(world.services(), releasing);
  const opened = await openSessionStore({
    directory: sessionDirectory(HOME, SESSION),
    sessionId: SESSION,
    owner: { generation: "next", identity: {} },
    // As of a writer that a person has asserted gone.
    probeOwner: () => "unknown",
    engine: "inline",
    fs: world.disk,
  });
  expect(opened.kind).toBe("opened");
});

it("I143 I164 a release whose session's files take nothing is done all the same, and its request is remembered with it", async () => {
  const world = await World.create();
  const store = await world.open("g");
  await store.admit({ requestId: "p", hash: "h", kind: "prompt", text: "p" });
  world.context.catalog.quarantined.set(SESSION, "its descriptor is damaged");
  world.disk.inject({ call: "open", errno: "EIO", pathEnds: "transcript.jsonl", lasting: true });
  expect(await repair(world.services(), releasing)).toMatchObject({ done: expect.stringContaining("it rests") });
  expect(world.context.catalog.quarantined.size).toBe(0);
});
