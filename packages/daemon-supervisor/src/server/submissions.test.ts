import { ProtocolError } from "@holdfast/client/protocol";
import { expect, it } from "vitest";
import { Submissions } from "./submissions.ts";

const taken = async (): Promise<void> => {};

it("I143 a refusal of the first does not make forgotten for which session a repeat was taken", async () => {
  const submissions = new Submissions();
  const run = (resolve: () => string, work: () => Promise<void>): Promise<string> =>
    submissions.run("r", { selector: "name", resolve }, async (sessionId) => {
      await work();
      return sessionId;
    });
  let refuse!: (error: Error) => void;
  const first = run(
    () => "a",
    () => new Promise((_resolve, reject) => (refuse = reject)),
  );
  expect(await run(() => "a", taken)).toBe("a");
  refuse(new ProtocolError("capacity", "full"));
  await expect(first).rejects.toThrow("full");
  expect(await run(() => "b", taken)).toBe("a");
});

it("I143 an id that was refused each time is free, however many asked side by side", async () => {
  const submissions = new Submissions();
  const refusals: ((error: Error) => void)[] = [];
  const asked = [1, 2].map(() =>
    submissions.run(
      "r",
      { selector: "name", resolve: () => "a" },
      () => new Promise<void>((_, no) => refusals.push(no)),
    ),
  );
  const both = Promise.allSettled(asked);
  for (const refuse of refusals) refuse(new ProtocolError("capacity", "full"));
  expect((await both).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(submissions.has("r")).toBe(false);
});
