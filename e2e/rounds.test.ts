import { expect, it } from "vitest";
import { randomRounds } from "./moments/rounds.ts";

it("I131 I137 I143 random requests with kill -9 of supervisor, worker or both: nobody in limbo, nothing lost, doubled or unknown", async () => {
  // The disposal of its home tells of a canary that was touched.
  const { requests, supervisorsKilled, workersKilled } = await randomRounds({ rounds: 12, seed: 20_261_130 });
  expect(requests).toBe(12);
  expect(supervisorsKilled).toBeGreaterThan(1);
  expect(workersKilled).toBeGreaterThan(0);
}, 600_000);
