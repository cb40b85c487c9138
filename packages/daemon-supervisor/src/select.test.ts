import { expect, it } from "vitest";
import { select } from "./select.ts";

const sessions = [
  { sessionId: "01a2aaaa-0000-7000-8000-00000000beef", name: "demo", archived: false },
  { sessionId: "01a2bbbb-0000-7000-8000-00000000cafe", name: "old", archived: true },
  { sessionId: "01a2cccc-0000-7000-8000-0000000acafe", name: "demo", archived: true },
];

it("takes the exact id, then the unarchived name, then part of an id", () => {
  expect(select(sessions[1]!.sessionId, sessions)).toBe(sessions[1]!.sessionId);
  expect(select("demo", sessions)).toBe(sessions[0]!.sessionId);
  expect(select("old", sessions)).toBe(sessions[1]!.sessionId);
  expect(select("beef", sessions)).toBe(sessions[0]!.sessionId);
  expect(select("01A2BBBB", sessions)).toBe(sessions[1]!.sessionId);
});

it("I115 I148 never guesses: empty, short, unknown and ambiguous are refused", () => {
  expect(() => select("", sessions)).toThrow(expect.objectContaining({ code: "usage" }));
  const odd = ["..", ".", "/", "a/b", "../x", "-", "-x", "a\nb", " ", "x".repeat(300), "ü", "a b"];
  for (const unknown of ["eef", "nobody", ...odd])
    expect(() => select(unknown, sessions)).toThrow(expect.objectContaining({ code: "session_not_found" }));
  expect(() => select("cafe", sessions)).toThrow(expect.objectContaining({ code: "ambiguous" }));
  expect(() => select("01a2", sessions)).toThrow(expect.objectContaining({ code: "ambiguous" }));
});
