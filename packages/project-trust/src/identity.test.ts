import { describe, expect, it } from "vitest";
import {
  compareDirectories,
  comparisons,
  type DirectoryIdentity,
  identityFromJson,
  identityToJson,
} from "./identity.ts";

const one: DirectoryIdentity = { directory: "/a", device: 3n, inode: 5n, birthTimeNs: 7n };
const unborn = { ...one, birthTimeNs: 0n };

describe("the comparison of directories", () => {
  it("has one row for each case", () => {
    for (const place of ["same", "other"])
      for (const birth of ["same", "other", "unrecorded"])
        for (const held of ["held", "not held"]) {
          const rows = comparisons.filter(
            (row) =>
              [place, "any"].includes(row.place) &&
              [birth, "any"].includes(row.birth) &&
              [held, "any"].includes(row.held),
          );
          expect({ place, birth, held, rows: rows.length }).toEqual({ place, birth, held, rows: 1 });
        }
  });

  it.each([
    ["the same", one, one, "not held", "same"],
    ["the same, held", one, one, "held", "same"],
    ["another path", one, { ...one, directory: "/b" }, "held", "replaced"],
    ["another device", one, { ...one, device: 4n }, "held", "replaced"],
    ["another inode", one, { ...one, inode: 6n }, "held", "replaced"],
    ["the same inode, born later", one, { ...one, birthTimeNs: 8n }, "held", "replaced"],
    ["no birth time any more", one, unborn, "not held", "replaced"],
    ["a birth time where none was", unborn, one, "not held", "replaced"],
    ["no birth times", unborn, unborn, "not held", "unproven"],
    ["no birth times, held all the while", unborn, unborn, "held", "same"],
    ["no birth times, another inode", unborn, { ...unborn, inode: 6n }, "held", "replaced"],
  ] as const)("I160 finds: %s", (_case, recorded, found, held, verdict) => {
    expect(compareDirectories(recorded, found, held)).toBe(verdict);
  });
});

describe("an identity as JSON", () => {
  it("comes back as it was, with all 64 bits", () => {
    const large = { ...one, device: (1n << 64n) - 1n, inode: (1n << 53n) + 1n };
    expect(identityFromJson(JSON.parse(JSON.stringify(identityToJson(large))))).toEqual(large);
  });

  const json = identityToJson(one);
  it.each([
    null,
    "/a",
    [],
    {},
    { ...json, directory: "a" },
    { ...json, device: 3 },
    { ...json, device: "" },
    { ...json, device: "03" },
    { ...json, device: "-3" },
    { ...json, device: "0x3" },
    { ...json, device: "3\n" },
    { ...json, inode: "18446744073709551616" },
    { ...json, inode: "9".repeat(400) },
    { ...json, birthTimeNs: 7n },
    { ...json, more: "1" },
    { directory: "/a", device: "3", inode: "5" },
    Object.create(json),
  ])("I160 is refused when it is malformed: %o", (value) => {
    expect(identityFromJson(value)).toBeNull();
  });
});
