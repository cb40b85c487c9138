import { SimulatedDisk } from "@holdfast/recovery-journal/testing";
import type { CallName } from "@holdfast/recovery-journal/testing";
import { sessionDirectory, sessionRecordPath } from "@holdfast/session-worker/transport";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { expect, it } from "vitest";
import { Catalog } from "./catalog.ts";
import { makeSession, sessionRecordOf } from "./session-record.testing.ts";

const sessionId = "01a2aaaa-0000-7000-8000-000000000001";
const folder = sessionDirectory("", sessionId);
const request = { requestId: "r", hash: "h" };

async function withSession(record: Partial<SessionRecord> = {}): Promise<{ disk: SimulatedDisk; catalog: Catalog }> {
  const disk = new SimulatedDisk();
  disk.mkdir("/sessions", 0o700);
  await makeSession("", sessionRecordOf(sessionId, record), disk);
  for (const path of ["/", "/sessions"]) disk.fsync(disk.open(path, 0));
  return { disk, catalog: new Catalog("", disk) };
}

const breakFolder = (disk: SimulatedDisk): void => disk.inject({ call: "fsync", errno: "EIO", pathEnds: folder });
const wanting = (wanted: SessionRecord["wanted"]) => (record: SessionRecord) => ({ ...record, wanted });
const recordOn = (disk: SimulatedDisk): SessionRecord =>
  JSON.parse(disk.contentOf(sessionRecordPath("", sessionId)).toString());
const afterPowerCut = (disk: SimulatedDisk): readonly SessionRecord["wanted"][] => [
  ...new Set([...disk.crashStates()].map((state) => recordOn(state).wanted)),
];

it("I109 a record that a failed write left in place is durable before anybody is told that it stands", async () => {
  const { disk, catalog } = await withSession();
  breakFolder(disk);
  await expect(catalog.update(sessionId, wanting("stopped"))).rejects.toMatchObject({ code: "replaced_not_durable" });
  expect(afterPowerCut(disk)).toHaveLength(2);
  await catalog.settle(sessionId);
  expect(afterPowerCut(disk)).toEqual(["stopped"]);
});

it("I109 a record as a start finds it is durable before anybody is told that it stands, and is synced once", async () => {
  const { disk, catalog } = await withSession();
  breakFolder(disk);
  await expect(catalog.update(sessionId, wanting("stopped"))).rejects.toMatchObject({ code: "replaced_not_durable" });
  const successor = new Catalog("", disk);
  await successor.settle(sessionId);
  expect(afterPowerCut(disk)).toEqual(["stopped"]);
  disk.onCall = (call) => expect(call).toBe("nothing more");
  await successor.settle(sessionId);
});

it("I109 a record that may be in place is written by the next change, also by one that changes nothing", async () => {
  const { disk, catalog } = await withSession();
  disk.inject({ call: "rename", errno: "ESTALE", effect: "all" });
  disk.inject({ call: "open", errno: "EIO", pathEnds: "session.json" });
  await expect(catalog.update(sessionId, wanting("stopped"))).rejects.toMatchObject({ code: "maybe_replaced" });
  await catalog.update(sessionId, (record) => record);
  expect([catalog.get(sessionId)?.wanted, afterPowerCut(disk)]).toEqual(["stopped", ["stopped"]]);
});

it("I109 I143 what a failed write put over the word of a bare intent is durable before anybody is told that it stands", async () => {
  const { disk, catalog } = await withSession();
  await catalog.assume(sessionId, "stopped");
  breakFolder(disk);
  const renamed = catalog.update(sessionId, (record) => ({ ...record, name: "other" }));
  await expect(renamed).rejects.toMatchObject({ code: "replaced_not_durable" });
  await catalog.settle(sessionId);
  const left = [...disk.crashStates()].map((state) => [recordOn(state).name, recordOn(state).wanted]);
  expect(new Set(left.map(String))).toEqual(new Set(["other,stopped"]));
});

it("I169 a change that changes nothing of what a start has found does nothing: a start has many of them", async () => {
  const { disk } = await withSession();
  const successor = new Catalog("", disk);
  disk.onCall = (call) => expect([...CHANGING, "fsync"]).not.toContain(call);
  await successor.update(sessionId, (record) => record);
});

it("I142 I143 whoever looks for a session that is being removed finds it until it is gone", async () => {
  const { disk, catalog } = await withSession();
  const at = sessionDirectory("", sessionId);
  await catalog.update(sessionId, wanting("stopped"));
  catalog.letGo(sessionId);
  const remove = (fails: boolean): Promise<void> =>
    catalog.remove(sessionId, async () => {
      disk.rename(at, `${at}.deleted`);
      expect(catalog.get(sessionId)?.wanted).toBe("stopped");
      if (!fails) return;
      disk.rename(`${at}.deleted`, at);
      throw new Error("not durable");
    });
  await expect(remove(true)).rejects.toThrow("not durable");
  expect(catalog.get(sessionId)?.wanted).toBe("stopped");
  await remove(false);
  expect([catalog.get(sessionId), [...catalog.quarantined]]).toEqual([undefined, []]);
});

it("I143 what a start cannot read is known by what the index says of it: a repeat does not make it again", async () => {
  const { disk, catalog } = await withSession();
  await catalog.update(sessionId, wanting("stopped"));
  disk.plant(sessionRecordPath("", sessionId), Buffer.from("damage"));
  const successor = new Catalog("", disk);
  const { requestId } = sessionRecordOf(sessionId).creatingRequest;
  expect([successor.createdBy(requestId)?.sessionId, [...successor.quarantined.keys()]]).toEqual([
    sessionId,
    [sessionId],
  ]);
});

const CHANGING: readonly CallName[] = ["write", "fsync", "rename", "unlink", "link", "mkdir", "rmdir", "ftruncate"];

it("I139 I164 whoever lost the home while it waited for its turn writes nothing", async () => {
  const { disk } = await withSession();
  let isOwner = true;
  const catalog = new Catalog("", disk, () => isOwner);
  const other = "01a2aaaa-0000-7000-8000-000000000002";
  disk.mkdir(sessionDirectory("", other), 0o700);
  const asked = [
    catalog.update(sessionId, wanting("stopped")),
    catalog.update(sessionId, (record) => record),
    catalog.settle(sessionId),
    catalog.create(sessionRecordOf(other)),
    catalog.remove(sessionId, () => expect.unreachable("it is not the owner")),
  ];
  isOwner = false;
  disk.onCall = (call) => expect(CHANGING).not.toContain(call);
  const outcomes = await Promise.allSettled(asked);
  disk.onCall = null;
  const lost = { status: "rejected", reason: { code: "ownership_lost" } };
  expect(outcomes).toMatchObject(asked.map(() => lost));
  expect(disk.readdir(sessionDirectory("", other))).toEqual([]);
});

it("I109 shows what was seen and forgotten while a record was written that is in place and no more", async () => {
  const { disk, catalog } = await withSession({ recentRequests: [request] });
  breakFolder(disk);
  const write = catalog.update(sessionId, wanting("stopped"));
  await Promise.resolve();
  catalog.touch(sessionId, "2030-01-01T00:00:00.000Z");
  catalog.forgetRequest(sessionId, "r");
  await expect(write).rejects.toMatchObject({ code: "replaced_not_durable" });
  const seen = { wanted: "stopped", lastActivityAt: "2030-01-01T00:00:00.000Z", recentRequests: [] };
  expect(catalog.get(sessionId)).toMatchObject(seen);
  await catalog.update(sessionId, (record) => record);
  expect(recordOn(disk)).toMatchObject(seen);
});

it("I168 what a bare intent says is not undone in memory by a write that was under way", async () => {
  const { disk, catalog } = await withSession();
  const renamed = catalog.update(sessionId, (record) => ({ ...record, name: "other" }));
  await Promise.resolve();
  const assumed = catalog.assume(sessionId, "stopped");
  await Promise.all([renamed, assumed]);
  expect([catalog.get(sessionId), catalog.assumed(sessionId)]).toMatchObject([
    { name: "other", wanted: "stopped" },
    "stopped",
  ]);
  await catalog.update(sessionId, (record) => record);
  expect([recordOn(disk).wanted, catalog.assumed(sessionId)]).toEqual(["stopped", undefined]);
});
