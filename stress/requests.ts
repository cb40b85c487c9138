import { reasonsOf } from "../e2e/moments/reasons.ts";
import { requestsOnce } from "../e2e/moments/requests.ts";
import type { Target } from "./target.ts";

const ROUNDS = 4;

/** Requests while clients and supervisors are killed between request and answer. */
export const requests: Target = async ({ rounds, seed }) => {
  try {
    const report = await requestsOnce({ rounds: rounds ?? ROUNDS, seed });
    const columns = Object.entries(report).map(([name, value]) => `${name} ${value}`);
    process.stdout.write(`requests seed ${seed}   ${columns.join("   ")}\n`);
    return true;
  } catch (error) {
    process.stderr.write(`requests: seed ${seed}: ${reasonsOf(error)}\n`);
    return false;
  }
};
