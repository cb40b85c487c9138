import { afterAll, describe, expect, it } from "vitest";
import { printCounts } from "../proof/print-counts.ts";
import { enumerateReplacement, type Replace } from "../proof/replacement.ts";
import { publishFile } from "./publish-file.ts";
import { replaceFile, replaceFileAsync } from "./replace-file.ts";

const replacers: Record<string, Replace> = {
  replaceFile: async (fs, path, bytes) => {
    replaceFile(fs, path, bytes);
    return true;
  },
  replaceFileAsync: async (fs, path, bytes) => {
    await replaceFileAsync(fs, path, bytes);
    return true;
  },
  publishFile: async (fs, path, bytes) => publishFile(fs, path, bytes).kind === "published",
};

const totals: Record<string, Record<string, number>> = {};
afterAll(() => {
  for (const [suite, counts] of Object.entries(totals)) printCounts(suite, counts);
});

describe.each(Object.entries(replacers))("a power cut during %s", (name, replace) => {
  it.each(["a file", "nothing"] as const)(
    "I69 I109 leaves the old bytes or the new ones, and a second one when it is done again: over %s",
    async (over) => {
      const { problems, ...counts } = await enumerateReplacement({ replace, over, crash: {} });
      totals[`${name} over ${over}`] = counts;
      expect([...new Set(problems)]).toEqual([]);
      expect(counts.states).toBeGreaterThan(20);
    },
  );
});
