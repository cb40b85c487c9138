import { readJournal, removeTree, replaceFile } from "@holdfast/recovery-journal";
import { sessionDirectory } from "@holdfast/session-worker/transport";
import { expect, it } from "vitest";
import { Catalog } from "../catalog.ts";
import { requestsFolder } from "../home.ts";
import { HOME, SESSION, World } from "../world.testing.ts";
import { deletedDirectory, finishDeletions } from "../deleted.ts";
import { encodeRecord } from "../session-record-file.ts";
import { sessionRecordOf } from "../session-record.testing.ts";
import { deleteSession } from "./delete.ts";
import { rename } from "./record-verbs.ts";
import { Requests } from "./requests.ts";

it.each([
  ["done all the same", "all", false],
  ["not done", "none", true],
] as const)("I143 a deletion whose rename fails goes by what stands on the disk: %s", async (_what, effect, isLeft) => {
  const world = await World.create({ wanted: "stopped" });
  world.disk.inject({ call: "rename", errno: "EIO", effect, pathEnds: ".deleted" });
  const asked = deleteSession(world.services(), { session: SESSION, requestId: "d" });
  const told = await asked.then(
    () => "deleted",
    () => "failed",
  );
  const isKnown = world.context.catalog.get(SESSION) !== undefined;
  expect([told, isKnown]).toEqual([isLeft ? "failed" : "deleted", isLeft]);
  expect(world.disk.exists(sessionDirectory(HOME, SESSION))).toBe(isLeft);
});

it.each(["EBUSY", "ENOTEMPTY"])(
  "a deletion whose folder cannot be renamed (%s) names it, and is no bug",
  async (errno) => {
    const world = await World.create({ wanted: "stopped" });
    world.disk.inject({ call: "rename", errno, effect: "none", pathEnds: ".deleted" });
    await expect(deleteSession(world.services(), { session: SESSION, requestId: "d" })).rejects.toMatchObject({
      code: "session_in_use",
      message: expect.stringContaining(`${sessionDirectory(HOME, SESSION)} cannot be renamed to`),
      hint: expect.stringContaining("in the way"),
    });
  },
);

it.each(["open", "unlink"] as const)(
  "I140 I143 a deleted session that cannot be read or freed (%s) stays as it is, and the next one is remembered all the same",
  async (call) => {
    const world = await World.create();
    const [first, second] = [1, 2].map((at) => `01a2aaaa-0000-7000-8000-00000000001${at}`);
    for (const [at, sessionId] of [first!, second!].entries()) {
      const record = sessionRecordOf(sessionId, { creatingRequest: { requestId: `new${at}`, hash: "0".repeat(64) } });
      world.disk.mkdir(deletedDirectory(HOME, sessionId), 0o700);
      replaceFile(world.disk, `${deletedDirectory(HOME, sessionId)}/session.json`, encodeRecord(record));
    }
    world.disk.inject({ call, errno: "EIO", pathEnds: `${first}.deleted/session.json`, lasting: true });
    const { requests } = world.services();
    await finishDeletions(world.context, requests);
    const left = [first!, second!].map((sessionId) => world.disk.exists(deletedDirectory(HOME, sessionId)));
    expect(left).toEqual([true, false]);
    expect(await requests.isUsed("new1")).toBe(true);
    world.disk.heal();
    await finishDeletions(world.context, requests);
    expect(await requests.isUsed("new0")).toBe(true);
    expect(world.disk.exists(deletedDirectory(HOME, first!))).toBe(false);
  },
);

it("I142 a session whose folder somebody removed is forgotten by its deletion, and says at once that nothing else can be done", async () => {
  const world = await World.create({ wanted: "stopped" });
  removeTree(world.disk, sessionDirectory(HOME, SESSION));
  const services = world.services();
  const gone = expect.objectContaining({ code: "file_not_found", message: expect.stringContaining("folder is gone") });
  await expect(rename(services, { session: SESSION, requestId: "n", name: "x" })).rejects.toEqual(gone);
  await deleteSession(services, { session: SESSION, requestId: "d" });
  expect(world.context.catalog.get(SESSION)).toBeUndefined();
});

it("I143 what made a session is remembered elsewhere before the session goes: a repeat finds it at any moment", async () => {
  const world = await World.create({ wanted: "stopped" });
  const { disk } = world;
  const renaming = disk.rename.bind(disk);
  const remembered: string[] = [];
  disk.rename = (source, target) => {
    const report = target.endsWith(".deleted") ? readJournal(requestsFolder(HOME), [], disk) : null;
    if (report?.kind === "ok") remembered.push(...report.remembered.map(({ requestId }) => requestId));
    renaming(source, target);
  };
  await deleteSession(world.services(), { session: SESSION, requestId: "d" });
  expect(remembered).toEqual(["new"]);
});

it("I143 the requests that a deleted session's record was the trace of are remembered: none is carried out on the next of its name", async () => {
  const world = await World.create({ wanted: "stopped", recentRequests: [{ requestId: "resume", hash: "h" }] });
  const services = world.services();
  await deleteSession(services, { session: SESSION, requestId: "d" });
  await services.requests.close();
  const next = { ...world.context, catalog: new Catalog(HOME, world.disk), records: services.records };
  const requests = new Requests(next, () => true, services.submissions);
  expect(await requests.find("resume")).toMatchObject({ hash: "h", answer: { sessionId: SESSION, state: "stopped" } });
});

it("I143 a deletion keeps the first answer of a request that the record still names", async () => {
  const world = await World.create({ wanted: "stopped", recentRequests: [{ requestId: "resume", hash: "h" }] });
  const services = world.services();
  await services.requests.remember("resume", { hash: "h", sessionId: null, answer: { said: "first" } });
  await deleteSession(services, { session: SESSION, requestId: "d" });
  expect(await services.requests.find("resume")).toMatchObject({ answer: { said: "first" } });
});
