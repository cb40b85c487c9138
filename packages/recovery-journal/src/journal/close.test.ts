import { EventEmitter, once } from "node:events";
import { describe, expect, it } from "vitest";
import { segmentName } from "../format.ts";
import { LINE_OVERHEAD_BYTES } from "../format/line.ts";
import { openSimulated, SIMULATED_DIRECTORY, SimulatedDisk } from "../testing/index.ts";
import type { Journal, JsonObject } from "../types.ts";

const SEGMENT = `${SIMULATED_DIRECTORY}/${segmentName(1)}`;

async function endOf(journal: Journal, operationId: string, outcome: JsonObject): Promise<string> {
  const token = journal.adopt({ operationId, generation: "g1" });
  return token === null ? "not open" : journal.end(token, outcome);
}

const prompt = (operationId: string, detail = {}) =>
  ({ operationId, generation: "g1", kind: "prompt", detail }) as const;

/** Runs until nothing is left to do but wait for the disk. */
const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe("closing", () => {
  it.each(["pool", "thread"] as const)(
    "I70 gives the descriptor back after the flush under way: %s",
    async (engine) => {
      const disk = new SimulatedDisk();
      const journal = await openSimulated(disk, { engine });
      const token = await journal.begin(prompt("a"));
      const log: string[] = [];
      const flush = disk.fdatasyncAsync.bind(disk);
      const slow = new EventEmitter();
      const held = once(slow, "ready");
      let flushing = -1;
      disk.fdatasyncAsync = async (fd) => {
        flushing = fd;
        await held;
        log.push("flushed");
        await flush(fd);
      };
      const closeFile = disk.close.bind(disk);
      disk.close = (fd) => {
        if (fd === flushing) log.push("descriptor given back");
        closeFile(fd);
      };
      const end = journal.end(token, {});
      const close = journal.close();
      await settled();
      expect(log).toEqual([]);
      slow.emit("ready");
      expect(await end).toBe("ended");
      await close;
      expect(log).toEqual(["flushed", "descriptor given back"]);
      expect(journal.state).toBe("closed");
    },
  );

  it("I168 keeps the room of the release and of the other ends on a full disk, however large an end is", async () => {
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk);
    const ids = ["a", "b", "c"];
    const tokens = await journal.restore(ids.map((id) => prompt(id)));
    disk.capacityBytes = disk.usedBytes;
    const segment = disk.contentOf(SEGMENT);
    const room = segment.length - segment.indexOf("\n\n") - 1;
    const bare = JSON.stringify({ t: "end", id: "a", g: "g1", outcome: { text: "" } }).length + LINE_OVERHEAD_BYTES;
    const [large, ...small] = await Promise.allSettled(
      tokens.map((token, index) => journal.end(token, index === 0 ? { text: "x".repeat(room - bare) } : {})),
    );
    expect(large).toMatchObject({ status: "rejected", reason: { code: "disk_full" } });
    expect(small.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    await journal.close();
    expect(disk.contentOf(SEGMENT).toString()).toContain('"release"');
    disk.capacityBytes = Infinity;
    const next = await openSimulated(disk);
    expect(next.open()).toMatchObject([{ operationId: "a" }]);
    expect(await endOf(next, "a", { text: "x".repeat(room) })).toBe("ended");
  });

  it("I168 takes records that fit although a smaller segment to rest in cannot be made", async () => {
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk);
    const ids = ["a", "b", "c"];
    await Promise.all(ids.map((id) => journal.begin(prompt(id, { text: "x".repeat(9000) }))));
    for (const id of ids) await endOf(journal, id, {});
    const token = await journal.begin(prompt("d"));
    disk.capacityBytes = disk.usedBytes;
    await Promise.all([journal.note(token, { step: "last" }), journal.close()]);
    disk.capacityBytes = Infinity;
    const next = await openSimulated(disk);
    expect(next.open()).toMatchObject([{ operationId: "d", notes: [{ step: "last" }] }]);
  });

  it(
    "I111 leaves a journal that can be opened at any time, however much its ends have to remember",
    { timeout: 120_000 },
    async () => {
      const disk = new SimulatedDisk();
      const journal = await openSimulated(disk);
      const ids = Array.from({ length: 1000 }, (_, index) => `op-${index}`);
      await Promise.all(ids.map((id) => journal.admit(prompt(id), { requestId: `q-${id}`, hash: "h" })));
      for (const id of ids.slice(0, 24)) {
        expect(await endOf(journal, id, { text: "x".repeat(180_000) })).toBe("ended");
        const copy = disk.crashStates({ cuts: 0, samples: 0 }).next().value ?? disk;
        expect((await openSimulated(copy)).open()).toHaveLength(journal.open().length);
      }
    },
  );
});
