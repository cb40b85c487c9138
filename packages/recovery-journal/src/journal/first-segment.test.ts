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
