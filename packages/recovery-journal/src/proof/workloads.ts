import type { Step } from "./workload.ts";

/** What the enumerations run: one workload for each part of a journal's life. */
export const workloads = {
  append: [
    { do: "admit", ids: ["a"] },
    { do: "restore", ids: ["b", "c"], pad: 700 },
    { do: "note", ids: ["b"], pad: 30 },
    { do: "end", ids: ["a", "b"] },
    { do: "remember", ids: ["d"] },
    { do: "close" },
    { do: "reopen" },
    { do: "end", ids: ["c"] },
  ],
  claim: [
    { do: "admit", ids: ["a", "b"], pad: 1200 },
    { do: "end", ids: ["a"] },
    { do: "reopen" },
    { do: "restore", ids: ["c", "d"] },
    { do: "end", ids: ["b"] },
    { do: "reopen" },
  ],
  compaction: [
    { do: "admit", ids: ["a"], pad: 5000 },
    { do: "restore", ids: ["b", "c"], pad: 2400 },
    { do: "end", ids: ["a"] },
    { do: "note", ids: ["b"], pad: 6000 },
    { do: "end", ids: ["b", "c"] },
    { do: "remember", ids: ["d"], pad: 5000 },
    { do: "close" },
  ],
  quarantine: [
    { do: "quarantine" },
    { do: "reopen" },
    { do: "restore", ids: ["a", "b"], pad: 700 },
    { do: "resolve" },
    { do: "reopen" },
  ],
  release: [
    { do: "admit", ids: ["a", "b"] },
    { do: "close" },
    { do: "reopen" },
    { do: "close" },
    { do: "reopen" },
    { do: "note", ids: ["a"] },
    { do: "end", ids: ["a"] },
  ],
  removal: [
    { do: "begin", ids: ["a", "b"] },
    { do: "end", ids: ["a", "b"] },
    { do: "reopen" },
    { do: "close" },
    { do: "remove" },
    { do: "reopen" },
    { do: "begin", ids: ["c"] },
    { do: "end", ids: ["c"] },
    { do: "close" },
    { do: "remove" },
  ],
} as const satisfies Record<string, readonly Step[]>;

/** One batch of several sectors: what a power cut tears is repaired by the next opening. */
export const tornBatch: readonly Step[] = [
  { do: "admit", ids: ["a"] },
  { do: "admit", ids: ["b", "c", "d"], pad: 600 },
];

/** What a second writer does to a journal that it has just opened: it also ends what the first one began. */
export const secondSteps: readonly Step[] = [
  { do: "admit", ids: ["s"] },
  { do: "end", ids: ["a"] },
  { do: "begin", ids: ["t"], pad: 5000 },
  { do: "end", ids: ["s"] },
];
