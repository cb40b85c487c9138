import { describe, expect, it } from "vitest";
import { OWNER_MAX_BYTES } from "../format.ts";
import { openSimulated, SIMULATED_DIRECTORY, SimulatedDisk } from "../testing/index.ts";
import type { JournalOwner } from "../types.ts";
import { prompt } from "./journal.testing.ts";

describe("an owner", () => {
  it("whose name is too large is refused before anything is there", async () => {
    const disk = new SimulatedDisk();
    const identity = { text: "o".repeat(OWNER_MAX_BYTES) };
    await expect(openSimulated(disk, { owner: { generation: "g", identity } })).rejects.toMatchObject({
      code: "record_too_large",
    });
    expect(disk.exists(SIMULATED_DIRECTORY)).toBe(false);
  });

  it.each([
    ["a generation that is no text", { generation: 1, identity: {} }],
    ["an identity that is a list", { generation: "g", identity: [] }],
    ["an identity that writes itself as text", { generation: "g", identity: { toJSON: () => "me" } }],
  ])("I71 is not written where it could not be read back: %s", async (_, wrong) => {
    const disk = new SimulatedDisk();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what callers pass is not checked before
    const opening = openSimulated(disk, { owner: wrong as unknown as JournalOwner });
    await expect(opening).rejects.toThrow(/object|text/);
    expect(disk.exists(SIMULATED_DIRECTORY)).toBe(false);
  });

  it("is written as it was when the journal was opened", async () => {
    const disk = new SimulatedDisk();
    const identity = { pid: 1 };
    const journal = await openSimulated(disk, { owner: { generation: "g", identity } });
    identity.pid = 2;
    for (let index = 0; index < 20; index += 1) {
      await journal.end(await journal.begin(prompt(`op-${index}`, { text: "x".repeat(2048) })), {});
    }
    expect(journal.counters().compactions).toBeGreaterThan(0);
    const [name] = disk.readdir(SIMULATED_DIRECTORY);
    expect(disk.contentOf(`${SIMULATED_DIRECTORY}/${name}`).toString()).toContain('"pid":1}');
  });
});
