import { describe, expect, it } from "vitest";
import { CodedError, errnoOf, invariant, reasonOf } from "./errors.ts";

describe("errors", () => {
  it("carry a code, data and their cause", () => {
    const cause = new Error("disk");
    const error = new CodedError("disk_full", "No space", { data: { path: "a" }, cause });
    expect(error).toMatchObject({ name: "CodedError", code: "disk_full", message: "No space", data: { path: "a" } });
    expect(error.cause).toBe(cause);
    expect(new CodedError("x", "y").data).toEqual({});
    expect("cause" in new CodedError("x", "y")).toBe(false);
  });

  it("of a broken invariant say what is broken", () => {
    expect(() => invariant(false, "one writer")).toThrow(expect.objectContaining({ code: "invariant_broken" }));
    expect(() => invariant(true, "one writer")).not.toThrow();
  });

  it.each([
    [Object.assign(new Error("no"), { code: "ENOENT" }), "ENOENT"],
    [{ code: "EPERM" }, "EPERM"],
    [new CodedError("disk_full", "No space"), null],
    [Object.assign(new Error("no"), { code: 2 }), null],
    [null, null],
    ["ENOENT", null],
  ])("%s has the error number %s", (error, errno) => {
    expect(errnoOf(error)).toBe(errno);
  });

  it("give one line of reason for anything thrown", () => {
    expect([new Error("full"), new Error(""), "text", null, 3].map(reasonOf)).toEqual([
      "full",
      "Error",
      "text",
      "a thrown null",
      "a thrown number",
    ]);
  });
});
