import { expect, it } from "vitest";
import { SESSION, World } from "../world.testing.ts";
import { submit } from "./submit.ts";

it("I76 a request that waited for its turn looks again where it belongs: the files that it waited for may be closed", async () => {
  const world = await World.create();
  const { stores } = world;
  const waiting = {
    name: "recovering",
    phase: "waiting",
    terminal: null,
    cause: null,
    launches: [],
    due: { timer: "relaunch", at: 10 * 60_000 },
  } as const;
  world.enroll({ ...waiting, process: world.worker() });
  await world.registry.drained();
  await stores.inLane(SESSION, () => stores.open(SESSION));
  const first = stores.current(SESSION);
  let end!: () => void;
  const held = new Promise<void>((resolve) => (end = resolve));
  // While the request waits behind it, this closes the files and opens them anew, as a settling that failed does.
  const before = stores.inLane(SESSION, async () => {
    await held;
    await stores.close(SESSION);
    await stores.open(SESSION);
  });
  let answer: object | null = null;
  const asked = submit(world.services(), "prompt", { session: SESSION, requestId: "r", text: "echo" });
  void asked.then((given) => (answer = given));
  await world.turns(50);
  end();
  await before;
  await world.until(() => answer !== null);
  expect(stores.current(SESSION)).not.toBe(first);
  expect(stores.current(SESSION)?.actions()).toMatchObject([{ requestId: "r", phase: "accepted" }]);
});
