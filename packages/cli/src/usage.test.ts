import { expect, it } from "vitest";
import { nearest } from "./usage.ts";

const verbs = ["run", "start", "stop", "restart", "status", "logs"];

it.each([
  ["stauts", "status"],
  ["strat", "start"],
  ["stp", "stop"],
  ["log", "logs"],
  ["frobnicate", null],
  ["rnt", null],
  ["", null],
])("for %j the nearest verb is %s", (word, verb) => {
  expect(nearest(word, verbs)).toBe(verb);
});
