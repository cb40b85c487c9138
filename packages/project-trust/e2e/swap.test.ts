import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { createProjectTrustAuthority, type TrustedRoot } from "../src/index.ts";
import { Temporary } from "../src/temporary.testing.ts";

const ROUNDS = 10_000;
const TIMEOUT_MS = 120_000;

/**
 * Puts the directory's place through all that can be there: itself, nothing, a link to the other one, the other one
 * itself. On a thread, so that it happens in the middle of the calls of this one.
 */
const swapper = `
  const { renameSync, symlinkSync, unlinkSync } = require("node:fs");
  const { parentPort, workerData: { room, stop } } = require("node:worker_threads");
  const flag = new Int32Array(stop);
  const [place, aside, other] = ["place", "aside", "other"].map((name) => room + "/" + name);
  let swaps = 0;
  parentPort.postMessage("begun");
  for (; Atomics.load(flag, 0) === 0; swaps += 1) {
    renameSync(place, aside);
    symlinkSync(other, place);
    unlinkSync(place);
    renameSync(other, place);
    renameSync(place, other);
    renameSync(aside, place);
    // As long as the directory is in place, a random part of what a round takes.
    Atomics.wait(flag, 0, 0, Math.random() * 2);
  }
  parentPort.postMessage(swaps);
`;

it(
  "I47 I48 I160 never a byte of another directory, where it is swapped in the middle of 10,000 uses",
  async () => {
    using temporary = new Temporary();
    for (const name of ["place", "other"]) {
      temporary.file(`${name}/config`, name);
      temporary.directory(name, "of", name);
    }
    const authority = createProjectTrustAuthority({ policy: [temporary.at("place")] });
    const stop = new SharedArrayBuffer(4);
    const worker = new Worker(swapper, { eval: true, workerData: { room: temporary.path, stop } });
    await once(worker, "message");
    const [outcomes, read] = [new Map<string, number>(), new Set<string>()];
    const count = (outcome: string): unknown => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    for (let round = 0; round < ROUNDS; round += 1) {
      const grant = authority.authorize(temporary.at("place"));
      if (grant.kind === "denied") {
        count(`not granted: ${grant.reason}`);
        continue;
      }
      let when = "before";
      const outcome = await authority.withBinding(grant.binding, async (root) => {
        when = "after";
        read.add(textOf(root));
        await nextTurn();
        read.add(textOf(root));
        read.add(nameIn(root));
      });
      count(outcome.kind === "done" ? "done" : `denied ${when}: ${outcome.reason}`);
      authority.revoke(grant.binding);
    }
    Atomics.store(new Int32Array(stop), 0, 1);
    const [swaps] = await once(worker, "message");
    await worker.terminate();
    authority.dispose();
    expect([...read]).toEqual(["place"]);
    expect(swaps).toBeGreaterThan(500);
    // Each way in which it can be found changed was seen, before and in the middle of a use.
    const seen = new Set([...outcomes.keys()].map((outcome) => outcome.replace(/^(denied \w+):.*/, "$1")));
    for (const outcome of ["missing", "replaced", "symlink"]) expect(seen).toContain(`not granted: ${outcome}`);
    for (const outcome of ["done", "denied before", "denied after"]) expect(seen).toContain(outcome);
    expect(outcomes.get("done")).toBeGreaterThan(100);
    expect([...outcomes.keys()].filter((outcome) => /unreadable|unproven|disposed/.test(outcome))).toEqual([]);
  },
  TIMEOUT_MS,
);

function textOf(root: TrustedRoot): string {
  const file = root.readFile("config");
  return file.kind === "file" ? file.bytes.toString() : file.kind;
}

function nameIn(root: TrustedRoot): string {
  const names = root.list("of");
  return names.kind === "directory" ? names.names.map(({ name }) => name).join() : names.kind;
}
