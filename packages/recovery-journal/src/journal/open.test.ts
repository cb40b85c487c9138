import { CodedError } from "@holdfast/shared-process";
import { assert, expect, it } from "vitest";
import { type CallName, SimulatedDisk } from "../testing/index.ts";
import { openSimulated, SIMULATED_DIRECTORY, simulatedOptions } from "../testing/open-simulated.ts";
import type { JournalOwner } from "../types.ts";
import { openJournal } from "./open.ts";

const second = { generation: "g2", identity: {} };

async function acknowledged(): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk();
  await (await openSimulated(disk)).begin({ operationId: "a", generation: "g1", kind: "prompt" });
  return disk;
}

async function callsOfOpen(): Promise<readonly CallName[]> {
  const disk = await acknowledged();
  const calls: CallName[] = [];
  disk.onCall = (call) => void calls.push(call);
  await openSimulated(disk, { owner: second });
  return calls;
}

it.each([
  ["ENOSPC", "disk_full"],
  ["EIO", "journal_unavailable"],
])("I140 an open that fails with %s loses nothing, and a later one goes on from what it left", async (errno, code) => {
  const left = new Set<string>();
  for (const [index, call] of (await callsOfOpen()).entries()) {
    const disk = await acknowledged();
    let count = -1;
    disk.onCall = () => {
      count += 1;
      if (count === index) disk.inject({ call, errno });
    };
    const failed: unknown = await openJournal(simulatedOptions(disk, { owner: second })).catch(
      (error: unknown) => error,
    );
    disk.onCall = null;
    disk.heal();
    if (!(failed instanceof CodedError)) continue;
    expect([failed.code, failed.cause]).toMatchObject([code, { code: errno }]);
    const names = disk.readdir(SIMULATED_DIRECTORY).filter((name) => !name.endsWith(".tmp"));
    left.add(names.join());
    // Who comes next meets the owners that stand, of which the one that failed may be one; itself, it is not asked about.
    const probed: string[] = [];
    const probeOwner = ({ generation }: JournalOwner): "gone" => {
      probed.push(generation);
      return "gone";
    };
    const again = await openJournal(simulatedOptions(disk, { owner: second, probeOwner }));
    assert(again.kind === "opened");
    expect([again.journal.open().map(({ operationId }) => operationId), probed.includes("g2")]).toEqual([["a"], false]);
  }
  expect([...left].toSorted()).toEqual(["e00000001.jsonl", "e00000001.jsonl,e00000002.jsonl", "e00000002.jsonl"]);
});
