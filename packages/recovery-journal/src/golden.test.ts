import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { goldenFiles, goldenRoot, madeNow, VERDICT, verdictOn } from "../test/golden.ts";

const made = await madeNow();
const cases = Object.keys(made);

describe("golden files", () => {
  it("are all of the cases, and each case has its own", () => {
    const kept = ["v1", "v2"].flatMap((version) =>
      readdirSync(goldenRoot + version).map((name) => `${version}/${name}`),
    );
    expect(kept.toSorted()).toEqual(cases.toSorted());
  });

  it.each(cases)("are read as they always were: %s", (name) => {
    const verdict: unknown = JSON.parse(readFileSync(`${goldenRoot}${name}/${VERDICT}`, "utf8"));
    expect(verdictOn(goldenFiles(name))).toEqual(verdict);
  });

  it.each(cases)("are what the writer makes, byte by byte: %s", (name) => {
    const now = made[name] ?? {};
    const kept = goldenFiles(name);
    expect(Object.keys(now)).toEqual(Object.keys(kept));
    for (const [file, bytes] of Object.entries(now)) {
      // As text, so that a difference can be read.
      expect(bytes.toString("latin1")).toBe(kept[file]?.toString("latin1"));
    }
  });
});
