import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { askLine } from "./ask-line.ts";

it("gives the lines one after the other, without white space around them", async () => {
  const input = new PassThrough();
  const first = askLine(input);
  input.write(" y \n");
  expect(await first).toBe("y");
  const second = askLine(input);
  input.write("n\n");
  expect(await second).toBe("n");
});

it("gives nothing when the input ends, and nothing to whoever asks after that", async () => {
  const input = new PassThrough();
  const asked = askLine(input);
  input.end();
  expect(await asked).toBe("");
  expect(await askLine(input)).toBe("");
});

it("takes a line that was not finished for no answer", async () => {
  const input = new PassThrough();
  const asked = askLine(input);
  input.end("y");
  expect(await asked).toBe("");
});

it("gives nothing when the input is lost, and nothing to whoever asks after that", async () => {
  const input = new PassThrough();
  const asked = askLine(input);
  input.destroy(new Error("EIO"));
  expect(await asked).toBe("");
  expect(await askLine(input)).toBe("");
});
