import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PROTOCOL_VERSION, SCHEMA_REVISION, attachEndings, errorCodes, methods, sessionStates } from "./index.ts";
import { waitConditions } from "./rows.ts";

const golden = join(import.meta.dirname, "..", "..", "golden");
const source = (name: string): string => readFileSync(join(import.meta.dirname, name), "utf8");

/** Types have no value to look at: their names and words are read from the source. */
function eventTypes(): string[] {
  const [, bodies = ""] = /interface EventBodies \{\n(.*?)\n\}/s.exec(source("events.ts")) ?? [];
  return [...bodies.matchAll(/^ {2}(\w+):/gm)].flatMap(([, type]) => (type === undefined ? [] : [type]));
}
const words = (name: string): string[] => [
  ...new Set(
    [...source(name).matchAll(/"([a-z][a-z_-]*)"/g)].flatMap(([, word]) => (word === undefined ? [] : [word])),
  ),
];

/** What a client of this revision may meet. A new one of these, or another meaning, is a new revision with a file of its own. */
const vocabulary = () => ({
  protocol: PROTOCOL_VERSION,
  states: [...sessionStates],
  waitConditions: [...waitConditions],
  attachEndings: [...attachEndings],
  eventTypes: eventTypes(),
  eventWords: words("events.ts"),
  rowWords: words("rows.ts"),
  errorCodes: Object.fromEntries(Object.entries(errorCodes).map(([code, { exit }]) => [code, exit])),
  methods: Object.fromEntries(Object.entries(methods).map(([name, { mutating }]) => [name, mutating])),
});

it("I26 a state, event, error code, method or word that is new on the wire comes with a new schema revision", () => {
  const written: unknown = JSON.parse(readFileSync(join(golden, `schema-${SCHEMA_REVISION}.json`), "utf8"));
  expect(vocabulary()).toEqual(written);
});

it("I26 the schema revision is the last that was written down", () => {
  const revisions = readdirSync(golden).map((name) => Number(/^schema-(\d+)\.json$/.exec(name)?.[1]));
  expect(Math.max(...revisions)).toBe(SCHEMA_REVISION);
});

it("reads the types of events from their declaration", () => {
  expect(eventTypes()).toEqual(expect.arrayContaining(["session", "turn_ended", "gap"]));
  expect(words("events.ts")).toEqual(expect.arrayContaining(["end_turn", "stale", "fresh"]));
  expect(words("rows.ts")).toEqual(expect.arrayContaining(["quarantined", "needs_input", "ownership-lost"]));
});
