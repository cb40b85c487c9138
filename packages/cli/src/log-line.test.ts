import { expect, it } from "vitest";
import { lineByLine, readableLine } from "./log-line.ts";

it("a line of the log reads time, level, message and the other fields", () => {
  const entry = {
    level: 40,
    time: "2030-01-01T00:00:00.000Z",
    pid: 7,
    sessionId: "s",
    err: { message: "no" },
    msg: "ended",
  };
  expect(readableLine(JSON.stringify(entry))).toBe("2030-01-01T00:00:00.000Z warn  ended sessionId=s err=no");
});

it("what is no such line stays as it is", () => {
  expect(["plain words", "7", '{"cut":'].map(readableLine)).toEqual(["plain words", "7", '{"cut":']);
});

it("lines that come in pieces are shown whole", () => {
  const show = lineByLine((line) => `<${line}>`);
  const [head, tail] = [Buffer.from("one\ntw\u00f6").subarray(0, 7), Buffer.from("tw\u00f6\n").subarray(3)];
  expect(show(head) + show(tail)).toBe("<one>\n<tw\u00f6>\n");
});
