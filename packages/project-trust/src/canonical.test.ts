import fc from "fast-check";
import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { canonicalPath, componentsOf, relativePath } from "./canonical.ts";

/** A name that a path may have: no slash, no NUL, neither `.` nor `..`. */
const name = fc
  .string({ unit: "binary", minLength: 1, maxLength: 40 })
  .filter((text) => !/[/\0]|\p{Surrogate}/u.test(text) && text !== "." && text !== "..");
const names = fc.array(name, { maxLength: 12 });
const pathOf = (parts: readonly string[]): string => `/${parts.join("/")}`;
const reasonOf = (path: unknown): string => {
  const verdict = canonicalPath(path);
  return verdict.kind === "refused" ? verdict.reason : verdict.kind;
};

describe("a canonical path", () => {
  it("I47 is any names that a directory can have, one behind the other", () => {
    fc.assert(
      fc.property(names, (parts) => {
        expect(canonicalPath(pathOf(parts))).toEqual({ kind: "canonical", path: pathOf(parts) });
        expect(componentsOf(pathOf(parts))).toEqual(parts);
      }),
    );
  });

  it("I47 has no other spelling: with one component more of . or .. or nothing it is refused", () => {
    const odd = fc.constantFrom("", ".", "..");
    fc.assert(
      fc.property(names, odd, fc.nat(12), (parts, more, place) => {
        const spelt = pathOf(parts.toSpliced(place, 0, more));
        // One empty component alone is `/` itself.
        fc.pre(spelt !== "/");
        expect(reasonOf(spelt)).toBe("not_canonical");
      }),
    );
  });

  it("I47 is what normalising leaves as it is, over all short texts of its characters", () => {
    const text = fc.string({ unit: fc.constantFrom("/", ".", "a", "é"), maxLength: 9 });
    fc.assert(
      fc.property(text, (path) => {
        const isNormal =
          posix.isAbsolute(path) && posix.normalize(path) === path && (path === "/" || !path.endsWith("/"));
        expect(reasonOf(path) === "canonical").toBe(isNormal);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["/", "canonical"],
    ["/a/b", "canonical"],
    ["/a/...", "canonical"],
    ["/a b/é/\n", "canonical"],
    ["", "not_absolute"],
    ["a/b", "not_absolute"],
    ["./a", "not_absolute"],
    ["~/a", "not_absolute"],
    ["/a/", "not_canonical"],
    ["//", "not_canonical"],
    ["//a", "not_canonical"],
    ["/a//b", "not_canonical"],
    ["/a/.", "not_canonical"],
    ["/..", "not_canonical"],
    ["/a/../b", "not_canonical"],
    ["/a\0b", "nul"],
    ["a\0b", "nul"],
    ["/a\ud800", "lone_surrogate"],
    ["/\udc00a", "lone_surrogate"],
    [`/${"a".repeat(255)}`, "canonical"],
    [`/${"a".repeat(256)}`, "too_long"],
    [`/${"é".repeat(127)}`, "canonical"],
    [`/${"é".repeat(128)}`, "too_long"],
    ["/aaaaaaa".repeat(511) + "/aaaaaa", "canonical"],
    ["/aaaaaaa".repeat(512), "too_long"],
    ["/ééé".repeat(585), "canonical"],
    ["/ééé".repeat(586), "too_long"],
  ])("I47 %j is judged", (path, verdict) => {
    expect(reasonOf(path)).toBe(verdict);
  });

  it.each([undefined, null, 1, {}, [], ["/a"], Object("/a"), Symbol("/a"), { toString: () => "/a" }])(
    "I47 is a string and nothing that looks like one",
    (value) => {
      expect(reasonOf(value)).toBe("not_a_string");
    },
  );
});

describe("a relative path", () => {
  it.each(["a", "a/b", ".git/config", "..."])("%j names something below", (path) => {
    expect(relativePath(path)).toEqual({ kind: "relative", path });
  });

  it.each([
    ["", "not_canonical"],
    ["/a", "not_canonical"],
    ["a/", "not_canonical"],
    ["a//b", "not_canonical"],
    [".", "not_canonical"],
    ["..", "not_canonical"],
    ["a/../../b", "not_canonical"],
    ["a\0", "nul"],
    ["\ud800", "lone_surrogate"],
    ["a".repeat(256), "too_long"],
    ["a/".repeat(2048), "too_long"],
    [7, "not_a_string"],
  ])("I47 %j does not", (path, reason) => {
    expect(relativePath(path)).toEqual({ kind: "refused", reason });
  });
});
