import { expect, it } from "vitest";
import { requestsOnce } from "./moments/requests.ts";

/** `pnpm stress requests` takes four. */
const ROUNDS = 2;

it("I137 I143 100 requests with clients and supervisors killed between request and answer: each takes effect once", async () => {
  const { requests, attempts, supervisorsKilled } = await requestsOnce({ rounds: ROUNDS, seed: 20_261_129 });
  expect(requests).toBeGreaterThanOrEqual(100);
  // Clients were lost too: more was asked than there are requests.
  expect(attempts).toBeGreaterThan(requests * 1.2);
  expect(supervisorsKilled).toBeGreaterThan(5);
}, 600_000);
