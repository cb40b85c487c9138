import fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonObject } from "../types.ts";
import { storedJson } from "./stored-json.ts";

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what callers pass is not checked before
const stored = (value: object): unknown => storedJson(value as JsonObject);

it("gives for any object what a reader of its text gets", () => {
  const values = fc.oneof(
    fc.object({ withDate: true }),
    fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double(), fc.constantFrom(null, undefined, true, -0))),
  );
  fc.assert(
    fc.property(values, (value) => {
      const text = JSON.stringify(value);
      expect(stored(value)).toStrictEqual(JSON.parse(text));
      expect(JSON.stringify(stored(value))).toBe(text);
    }),
  );
});

it("throws what JSON.stringify throws", () => {
  expect(() => stored({ big: 1n })).toThrow(TypeError);
});

it("leaves out what JSON leaves out, asks toJSON, and knows no negative zero", () => {
  const value = { at: new Date(0), none: undefined, zero: -0, nan: Number.NaN, [Symbol("s")]: 1, call: () => 1 };
  expect(stored(value)).toStrictEqual({ at: "1970-01-01T00:00:00.000Z", zero: 0, nan: null });
  expect(stored({ secret: 1, toJSON: () => ({ shown: 2 }) })).toStrictEqual({ shown: 2 });
  expect(Object.keys(storedJson(JSON.parse('{"__proto__":1}')))).toEqual(["__proto__"]);
});

it("reads each field once and keeps nothing of the caller's", () => {
  let reads = 0;
  const value = {
    flat: 1,
    get count() {
      return (reads += 1);
    },
  };
  const copy = storedJson(value);
  value.flat = 2;
  expect([copy, reads]).toEqual([{ flat: 1, count: 1 }, 1]);
});

const nested = (levels: number): object => JSON.parse(`${'{"a":['.repeat(levels)}${"]}".repeat(levels)}`);

it("refuses what is nested too deep for a reader with a smaller stack", () => {
  expect(stored(nested(128))).toEqual(nested(128));
  expect(() => stored(nested(129))).toThrow("levels of nesting");
});

it("refuses a list, which is no object", () => {
  for (const list of [[], ["a"]]) expect(() => stored(list)).toThrow("is an object");
});
