import { CodedError, invariant } from "@holdfast/shared-process";
import type { JsonObject } from "../types.ts";
import { parseObject } from "./line.ts";

/**
 * A caller's object as a reader of the file gets it: a copy that knows nothing of later changes, without what JSON has no
 * text for. Flat objects, which most are, are copied and not written and parsed. Throws what `JSON.stringify` throws.
 */
export function storedJson(value: JsonObject): JsonObject {
  if (Object.getPrototypeOf(value) === Object.prototype && !("toJSON" in value)) {
    const entries = Object.entries(value);
    if (entries.every(([, field]) => isStoredAsItIs(field))) return Object.fromEntries(entries);
  }
  const parsed = parseObject(textOf(value));
  invariant(isObject(parsed), "a detail or an outcome is an object");
  if (isDeeper(parsed, NESTING_MAX))
    throw new CodedError("record_too_large", `more than ${NESTING_MAX} levels of nesting`);
  return parsed;
}

function textOf(value: JsonObject): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CodedError("record_too_large", "a value is nested too deep or too large to be written", { cause: error });
  }
}

/** What is written with a large stack must be readable with a small one. */
export const NESTING_MAX = 256;

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

function isStoredAsItIs(field: unknown): boolean {
  if (typeof field === "number") return Number.isFinite(field) && !Object.is(field, -0);
  return field === null || typeof field === "string" || typeof field === "boolean";
}

/** What JSON.parse made is a `JsonObject` once it is an object. */
function isObject(value: Readonly<Record<string, unknown>> | null): value is JsonObject {
  return value !== null;
}
