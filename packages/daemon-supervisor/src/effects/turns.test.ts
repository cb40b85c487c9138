import { FakeClock } from "@holdfast/shared-process/testing";
import { expect, it } from "vitest";
import { Turns } from "./turns.ts";

it("I169 lets the first through at once and the others one in each turn of the loop, in order", async () => {
  const clock = new FakeClock();
  const turns = new Turns(clock);
  const passed: string[] = [];
  const all = ["a", "b", "c"].map(async (name) => {
    await turns.next();
    passed.push(name);
  });
  await all[0];
  const seen = [passed.join("")];
  for (const last of all.slice(1)) {
    clock.advance(0);
    await last;
    seen.push(passed.join(""));
  }
  expect(seen).toEqual(["a", "ab", "abc"]);
});
