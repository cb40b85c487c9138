import { expect, it } from "vitest";
import { sampleStates } from "../lifecycle/samples.testing.ts";
import { SESSION, World } from "../world.testing.ts";

it("I155 I169 a deadline of a stop comes although no file can be opened then", async () => {
  const world = await World.create();
  const due = { timer: "kill", at: world.clock.monotonic() + 1_000 } as const;
  world.enroll({ ...sampleStates.stopping[0]!, phase: "asked", due });
  await world.registry.drained();
  expect(world.context.catalog.get(SESSION)?.wanted).toBe("stopped");
  world.disk.inject({ call: "open", errno: "EMFILE", lasting: true });
  world.clock.advance(1_000);
  expect(world.effects.map(({ type }) => type)).toEqual([]);
  expect(world.state()).toMatchObject({ name: "stopping", phase: "killing" });
});
