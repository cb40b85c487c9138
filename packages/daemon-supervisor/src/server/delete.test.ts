import { sessionDirectory } from "@holdfast/session-worker/transport";
import { expect, it } from "vitest";
import { HOME, SESSION, World } from "../world.testing.ts";
import { deleteSession } from "./delete.ts";

it.each([
  ["done all the same", "all", false],
  ["not done", "none", true],
] as const)("I143 a deletion whose rename fails goes by what stands on the disk: %s", async (_what, effect, isLeft) => {
  const world = await World.create({ wanted: "stopped" });
  world.disk.inject({ call: "rename", errno: "EIO", effect, pathEnds: ".deleted" });
  const asked = deleteSession(world.services(), { session: SESSION, requestId: "d" });
  const told = await asked.then(
    () => "deleted",
    () => "failed",
  );
  const isKnown = world.context.catalog.get(SESSION) !== undefined;
  expect([told, isKnown]).toEqual([isLeft ? "failed" : "deleted", isLeft]);
  expect(world.disk.exists(sessionDirectory(HOME, SESSION))).toBe(isLeft);
});
