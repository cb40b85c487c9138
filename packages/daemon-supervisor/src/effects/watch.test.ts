import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLifeline, holdLifeline } from "@holdfast/shared-process";
import type { BackendName, ProcessObserver } from "@holdfast/shared-process";
import { expect, it, onTestFinished } from "vitest";
import { SESSION, World } from "../world.testing.ts";
import { Watcher } from "./watch.ts";

/** A worker that lives and cannot be held, watched by a back-end of this name; how often it was looked at. */
async function watched(backend: BackendName) {
  const folder = mkdtempSync(join(tmpdir(), "hf-watch-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const lifelinePath = join(folder, "lifeline");
  await createLifeline(lifelinePath);
  const lifeline = holdLifeline(lifelinePath);
  const world = await World.create();
  world.table.start({ pid: 50 });
  const { observer } = world.context;
  const seen = observer.identify(50);
  if (seen.kind !== "identified") throw new Error(seen.why);
  let looks = 0;
  const counting: ProcessObserver = {
    ...observer,
    capabilities: () => ({ ...observer.capabilities(), backend }),
    open: () => ({ kind: "unknown", why: "denied" }),
    verdict: (identity) => {
      looks += 1;
      return observer.verdict(identity);
    },
  };
  const process = { ...world.worker(), identity: seen.identity, lifelinePath };
  world.enroll({ name: "reconnecting", process, launches: [], due: null });
  new Watcher({ ...world.context, observer: counting }, { handleOf: () => null }, world.collected).watch(
    SESSION,
    process,
  );
  return { world, lifeline, looks: () => looks };
}

it.each(["macos-narrow", "windows-narrow"] as const)(
  "I14 where a look costs a program (%s) there are two a second, and the release of the lifeline is noticed at once",
  async (backend) => {
    const { world, lifeline, looks } = await watched(backend);
    world.clock.advance(10_000);
    expect(looks()).toBeGreaterThan(10);
    expect(looks()).toBeLessThanOrEqual(21);
    lifeline[Symbol.dispose]();
    world.clock.advance(50);
    expect(world.state()?.name).toBe("recovering");
  },
);

it("I14 where a look is a call of the kernel there is one at each tick", async () => {
  const { world, lifeline, looks } = await watched("linux-narrow");
  world.clock.advance(1_000);
  expect(looks()).toBeGreaterThanOrEqual(20);
  lifeline[Symbol.dispose]();
});
