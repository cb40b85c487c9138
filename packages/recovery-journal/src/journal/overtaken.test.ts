import fc from "fast-check";
import { expect, it } from "vitest";
import { openSimulated, SIMULATED_DIRECTORY as DIRECTORY, SimulatedDisk, simulatedOptions } from "../testing/index.ts";
import { openJournal } from "./open.ts";
import { diskWith, flip, prompt, quarantine, report, segmentPath } from "./journal.testing.ts";
import { removeJournal } from "./remove.ts";

it("I71 I144 a journal that begins again beside evidence takes no number that the evidence has", async () => {
  const disk = await diskWith((damaged) => flip(damaged, segmentPath(1)));
  await quarantine(disk);
  const journal = await openSimulated(disk);
  for (const { id } of journal.quarantines()) await journal.resolveQuarantine(id, { decision: "none" });
  await journal.close();
  removeJournal(DIRECTORY, disk);
  expect(disk.readdir(DIRECTORY)).toEqual([expect.stringMatching(/^quarantine-00000001-/)]);
  await openSimulated(disk);
  expect(report(disk)).toMatchObject({ kind: "ok", segment: 2 });
});

it("I144 an opener of nothing that was paused over three takeovers is not the owner", async () => {
  const disk = new SimulatedDisk();
  const others: Promise<unknown>[] = [];
  disk.onCall = (call, path) => {
    if (call !== "open" || !path.startsWith(`${segmentPath(1)}.`)) return;
    disk.onCall = null;
    for (const generation of ["g2", "g3", "g4"]) {
      others.push(openJournal(simulatedOptions(disk, { owner: { generation, identity: {} } })));
    }
  };
  const journal = await openSimulated(disk);
  await Promise.all(others);
  const taken = await journal.begin(prompt("a")).catch((error: unknown) => error);
  const found = report(disk);
  expect([taken, found.kind === "ok" && found.open.map(({ operationId }) => operationId)]).toMatchObject([
    { operationId: "a" },
    ["a"],
  ]);
});

it("I144 a writer that was paused in a compaction over four takeovers is not the owner", async () => {
  const disk = new SimulatedDisk();
  const journal = await openSimulated(disk);
  const others: Promise<unknown>[] = [];
  disk.onCall = (call, path) => {
    if (call !== "open" || !path.startsWith(`${segmentPath(2)}.`)) return;
    disk.onCall = null;
    for (const generation of ["g2", "g3", "g4", "g5"]) {
      others.push(openJournal(simulatedOptions(disk, { owner: { generation, identity: {} } })));
    }
  };
  const text = "x".repeat(9000);
  const taken: string[] = [];
  for (const id of ["a", "b", "c"]) {
    await journal.begin(prompt(id, { text })).then(
      () => taken.push(id),
      () => undefined,
    );
  }
  await Promise.all(others);
  expect(others).toHaveLength(4);
  const found = report(disk);
  expect(found.kind === "ok" && found.open.map(({ operationId }) => operationId)).toEqual(taken);
});

const as = (generation: string) => ({ owner: { generation, identity: {} } });
const large = { text: "x".repeat(9000) };
const openIds = (disk: SimulatedDisk): unknown => {
  const found = report(disk);
  return found.kind === "ok" ? found.open.map(({ operationId }) => operationId) : found.kind;
};

it("I144 a paused writer is not the owner where its number was had again by another one that was paused", async () => {
  const disk = new SimulatedDisk();
  const first = await openSimulated(disk, as("a"));
  const token = await first.begin(prompt("A", large));
  const second = await openSimulated(disk, as("b"));
  await openSimulated(disk, as("c"));
  const owner = await openSimulated(disk, as("d"));
  // Needs a new segment, whose number is that of the second writer's.
  await expect(first.note(token, large)).rejects.toMatchObject({ code: "journal_fenced" });
  await expect(second.begin(prompt("lost"))).rejects.toMatchObject({ code: "journal_fenced" });
  await owner.begin(prompt("D"));
  expect(openIds(disk)).toEqual(["A", "D"]);
});

it("I71 I144 a segment that came too late does not stay below the one that counts, where damage would bring it back", async () => {
  const disk = new SimulatedDisk();
  const first = await openSimulated(disk, as("a"));
  const token = await first.begin(prompt("A", large));
  const second = await openSimulated(disk, as("b"));
  const adopted = second.adopt(token);
  expect(adopted && (await second.end(adopted, {}))).toBe("ended");
  await second.begin(prompt("B"));
  await openSimulated(disk, as("c"));
  await expect(first.note(token, large)).rejects.toMatchObject({ code: "journal_fenced" });
  expect(disk.readdir(DIRECTORY)).toEqual(["e00000003.jsonl"]);
  const bytes = disk.contentOf(segmentPath(3));
  bytes[bytes.indexOf('"open"') + 2] = 0;
  disk.plant(segmentPath(3), bytes);
  expect(report(disk)).toMatchObject({ kind: "refused", why: "corrupt" });
});

it("I71 I144 neither does a first segment that came too late", async () => {
  const disk = new SimulatedDisk();
  const others: Promise<unknown>[] = [];
  disk.onCall = (call, path) => {
    if (call !== "open" || !path.startsWith(`${segmentPath(1)}.`)) return;
    disk.onCall = null;
    others.push(openSimulated(disk, as("b")), openSimulated(disk, as("c")));
  };
  const asking = simulatedOptions(disk, { ...as("a"), probeOwner: () => "unknown" });
  expect(await openJournal(asking)).toMatchObject({ kind: "owned" });
  await Promise.all(others);
  expect(disk.readdir(DIRECTORY)).toEqual(["e00000002.jsonl"]);
});

it("I71 a first segment is not put above a journal that came, and was damaged, meanwhile", async () => {
  const disk = new SimulatedDisk();
  const others: Promise<unknown>[] = [];
  disk.onCall = (call) => {
    if (call !== "mkdir") return;
    disk.onCall = null;
    others.push(openSimulated(disk, as("b")));
    flip(disk, segmentPath(1), '"head"');
    const evidence = `${DIRECTORY}/quarantine-00000001-00000000.jsonl`;
    disk.plant(evidence, disk.contentOf(segmentPath(1)));
  };
  expect(await openJournal(simulatedOptions(disk, as("a")))).toMatchObject({ kind: "refused", why: "corrupt" });
  await Promise.all(others);
});

it("I144 a claim stays whose owner could not read what it would take over: another one may have read it", async () => {
  const disk = new SimulatedDisk();
  const writer = await openSimulated(disk, as("w"));
  await writer.begin(prompt("first"));
  let isLinked = false;
  disk.onCall = (call, path) => {
    if (call === "link") isLinked = true;
    if (!isLinked || call !== "open" || path !== segmentPath(1)) return;
    disk.onCall = null;
    disk.inject({ call: "open", pathEnds: "e00000001.jsonl", errno: "EMFILE" });
  };
  expect(await openJournal(simulatedOptions(disk, as("c1")))).toMatchObject({ kind: "refused", why: "unreadable" });
  await expect(writer.begin(prompt("refused"))).rejects.toMatchObject({ code: "journal_fenced" });
  await openSimulated(disk, as("c2"));
  expect(disk.readdir(DIRECTORY)).toEqual(["e00000003.jsonl"]);
});

it("I144 a paused writer is not the owner of a journal that was removed and made again", async () => {
  const disk = new SimulatedDisk();
  const paused = await openSimulated(disk, as("a"));
  await (await openSimulated(disk, as("b"))).close();
  removeJournal(DIRECTORY, disk);
  const owner = await openSimulated(disk, as("c"));
  await expect(paused.begin(prompt("lost"))).rejects.toMatchObject({ code: "journal_fenced" });
  await owner.begin(prompt("C"));
  expect(openIds(disk)).toEqual(["C"]);
});

/** A step of one of the writers that there were, all of which live on: each wrong probe leaves one more. */
const steps = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ do: fc.constant("open" as const), by: fc.nat(9), size: fc.constant(0) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constantFrom("begin" as const, "end" as const),
        by: fc.nat(9),
        size: fc.constantFrom(10, 3000, 9000),
      }),
    },
  ),
  { minLength: 5, maxLength: 40 },
);

it("I144 I67 of any number of writers that all live on, one acknowledges, and nothing of what it said is lost", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const disk = new SimulatedDisk();
      const writers = [await openSimulated(disk, as("g0"))];
      const begun = new Set<string>();
      for (const [index, step] of list.entries()) {
        const writer = writers[step.by % writers.length];
        if (step.do === "open") writers.push(await openSimulated(disk, as(`g${index + 1}`)));
        else if (step.do === "begin") {
          const begin = writer?.begin(prompt(`op-${index}`, { text: "x".repeat(step.size) }));
          if (await isDone(begin)) begun.add(`op-${index}`);
        } else {
          const [operation] = writer?.open() ?? [];
          const token = operation && writer?.adopt(operation);
          if (token && (await isDone(writer?.end(token, {})))) begun.delete(token.operationId);
        }
      }
      expect(new Set((await openSimulated(disk, as("last"))).open().map(({ operationId }) => operationId))).toEqual(
        begun,
      );
    }),
    { numRuns: 300 },
  );
});

const isDone = async (promise: Promise<unknown> | undefined): Promise<boolean> =>
  promise === undefined ? false : promise.then(() => true).catch(() => false);
