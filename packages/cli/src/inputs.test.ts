import { describe, expect, it } from "vitest";
import { FakeIo } from "../test/fake-io.ts";
import {
  cursorAfter,
  pageCursor,
  positiveInteger,
  promptText,
  secretEnvironment,
  selector,
  sessionName,
} from "./inputs.ts";

const withCode = (code: string) => expect.objectContaining({ code });

describe("I148 a name", () => {
  it.each(["..", "a/b", "-x", ".x", "a\nb", "a\0", "", "x".repeat(300), "ä"])("%j is refused", (name) => {
    expect(() => sessionName(name)).toThrow(withCode("invalid_name"));
  });

  it("of letters, digits, dots, dashes and underscores is taken", () => {
    expect(sessionName("build.2_x-y")).toBe("build.2_x-y");
  });
});

it("an empty selector is a usage error", () => {
  expect(() => selector("")).toThrow(withCode("usage"));
  expect(() => selector(" ")).toThrow(withCode("usage"));
});

it("numbers are whole and positive, of any size", () => {
  expect(positiveInteger("1000000", "--limit")).toBe(1_000_000);
  for (const text of ["0", "-1", "1.5", "x", ""])
    expect(() => positiveInteger(text, "--limit")).toThrow(withCode("usage"));
});

it("an empty cursor and a page that no list gave are usage errors", () => {
  expect(() => cursorAfter("")).toThrow(withCode("usage"));
  expect(cursorAfter("g:1")).toBe("g:1");
  expect(() => pageCursor("zzz")).toThrow(withCode("usage"));
  expect(pageCursor("01a228eb-6a4d-7407-978b-e923b1e73b5f")).toContain("-");
});

it("--env takes a value given, or the one that is set here, and refuses a name without one", () => {
  expect(secretEnvironment(["A=1=2", "B", "C="], { B: "b" })).toEqual({ A: "1=2", B: "b", C: "" });
  expect(() => secretEnvironment(["D"], {})).toThrow(withCode("usage"));
  expect(() => secretEnvironment(["1X=2"], {})).toThrow(withCode("usage"));
});

describe("I150 the text of a prompt", () => {
  const exact = "\ufeffa\r\n\u2028\u0085😀\n";

  it("comes from standard input unchanged with -", async () => {
    expect(await promptText("-", new FakeIo({ input: exact }))).toBe(exact);
    expect(await promptText(exact, new FakeIo())).toBe(exact);
  });

  it("that is not UTF-8 is refused, since it could not arrive unchanged", async () => {
    const broken = promptText("-", new FakeIo({ input: Buffer.from([0x61, 0xff]) }));
    await expect(broken).rejects.toThrow(withCode("usage"));
  });
});
