import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { peakMemory } from "./support/processes.ts";
import { waitFor } from "./support/wait-for.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";

const FLOOD_BYTES = 200_000_000;
const MEMORY_BYTES = 400 * 1_048_576;

it("I149 200 MB of output arrive whole, memory is bounded, another session answers meanwhile", async () => {
  await using home = await Home.open();
  const loud = await home.newSession("loud");
  await home.newSession("other");
  const mark = join(home.files, "began");
  const line = `touch ${mark}; head -c ${FLOOD_BYTES} /dev/zero | tr '\\0' x`;
  const flood = home.run(["bash", "-c", `set -o pipefail; $AGENT prompt loud "$0" | wc -c`, line]);
  await waitFor(() => existsSync(mark), "the flood began");
  const began = performance.now();
  expect((await home.ok(["prompt", "other", "echo alive"])).stdout).toBe("alive\n");
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(flood.hasEnded()).toBe(false);
  const { code, stdout } = await flood.result(60_000);
  expect([code, stdout.trim()]).toEqual([0, String(FLOOD_BYTES)]);
  expect(peakMemory(home.daemon())).toBeLessThan(MEMORY_BYTES);
  expect(peakMemory(home.worker(loud))).toBeLessThan(MEMORY_BYTES);
}, 90_000);
