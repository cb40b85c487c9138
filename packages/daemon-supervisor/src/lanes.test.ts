import { expect, it } from "vitest";
import { Lanes } from "./lanes.ts";

it("I75 work that ends gives up its own place, not that of whoever came behind it", async () => {
  const lanes = new Lanes();
  const done: string[] = [];
  let end!: () => void;
  const held = new Promise<void>((resolve) => (end = resolve));
  const first = lanes.run("s", async () => void done.push("first"));
  const second = lanes.run("s", async () => {
    await held;
    done.push("second");
  });
  await first;
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  const third = lanes.run("s", async () => void done.push("third"));
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  end();
  await Promise.all([second, third]);
  expect(done).toEqual(["first", "second", "third"]);
});
