import { expect, it } from "vitest";
import { matchStartId } from "./start-id.ts";

const BOOT = "aaaaaaaa-0000-4000-8000-000000000001";
const now = { startTicks: "5000", bootId: BOOT };

it.each([
  ["proc:5000", "equal"],
  [`proc:${BOOT}:5000`, "equal"],
  ["proc:5001", "different"],
  [`proc:${BOOT}:5001`, "different"],
  // Ticks of another boot say nothing: it may be another machine's, where the process lives on.
  ["proc:bbbbbbbb-0000-4000-8000-000000000001:5001", "unverifiable"],
  ["ps:Mon Jan  1 00:00:00 2024", "unverifiable"],
  ["ps2:Mon Jan  1 00:00:00 2024", "unverifiable"],
  ["win:5000", "unverifiable"],
  ["5000", "unverifiable"],
  ["proc:", "unverifiable"],
  ["", "absent"],
  [null, "absent"],
] as const)("I99 a recorded start id %j is %s: ids of two formats are never compared", (recorded, match) => {
  expect(matchStartId(recorded, now, "linux")).toBe(match);
});

it("I99 compares nothing with what cannot be read, or counts in other units", () => {
  expect(matchStartId("proc:5000", { ...now, startTicks: null }, "linux")).toBe("unverifiable");
  expect(matchStartId("proc:5000", now, "darwin")).toBe("unverifiable");
});
