import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FILE, goldenFile, goldenRoot, madeNow, VERDICT, verdictOn } from "../test/golden.ts";

const made = madeNow();
const cases = Object.keys(made);

describe("golden files", () => {
  it("are all of the cases, and each case has its own", () => {
    expect(
      readdirSync(`${goldenRoot}v1`)
        .map((name) => `v1/${name}`)
        .toSorted(),
    ).toEqual(cases.toSorted());
  });

  it.each(cases)("are read as they always were: %s", (name) => {
    const verdict: unknown = JSON.parse(goldenFile(name, VERDICT).toString());
    expect(verdictOn(goldenFile(name, FILE))).toEqual(verdict);
  });

  it.each(cases)("are what the writer makes, byte by byte: %s", (name) => {
    expect(made[name]?.toString()).toBe(goldenFile(name, FILE).toString());
  });
});
