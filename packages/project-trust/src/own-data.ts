export type OwnData<Key extends string> =
  | { readonly kind: "data"; readonly values: Readonly<Record<Key, unknown>> }
  | { readonly kind: "refused"; readonly why: string };

/**
 * Reads an object's own data properties, each once, so that no getter and no proxy answers twice. Keys that are not
 * expected are refused: a misspelt one would be left out in silence. Missing ones are `undefined`.
 */
export function ownData<Key extends string>(value: unknown, keys: readonly Key[]): OwnData<Key> {
  if (typeof value !== "object" || value === null) return { kind: "refused", why: "it is not an object" };
  try {
    const unknown = Reflect.ownKeys(value).find((name) => !keys.some((key) => key === name));
    if (unknown !== undefined)
      return {
        kind: "refused",
        why: `${typeof unknown === "string" ? shown(unknown) : "a symbol"} is not a key of it`,
      };
    const read = keys.map((key) => [key, own(value, key)] as const);
    const accessor = read.find(([, property]) => property.kind === "accessor");
    if (accessor !== undefined) return { kind: "refused", why: `${accessor[0]} is a getter` };
    const values = Object.fromEntries(read.map(([key, property]) => [key, property.value]));
    return hasAll(values, keys) ? { kind: "data", values } : { kind: "refused", why: "it is not an object" };
  } catch {
    // A proxy whose traps throw, or one that was revoked.
    return { kind: "refused", why: "it cannot be read" };
  }
}

export type OwnList =
  | { readonly kind: "list"; readonly items: readonly unknown[] }
  | { readonly kind: "refused"; readonly index: number | null; readonly why: string };

/** The elements of an array, each read once. */
export function ownList(value: unknown, limit: number): OwnList {
  try {
    if (!Array.isArray(value)) return { kind: "refused", index: null, why: "it is not an array" };
    const { value: length } = own(value, "length");
    if (typeof length !== "number") return { kind: "refused", index: null, why: "it has no length" };
    if (length > limit)
      return { kind: "refused", index: null, why: `it has ${length} entries, and ${limit} is the most` };
    const items: unknown[] = [];
    for (let index = 0; index < length; index += 1) {
      const property = own(value, String(index));
      if (property.kind !== "data") return { kind: "refused", index, why: `it is ${property.kind}` };
      items.push(property.value);
    }
    return { kind: "list", items };
  } catch {
    return { kind: "refused", index: null, why: "it cannot be read" };
  }
}

function own(object: object, key: string): { readonly kind: "data" | "accessor" | "missing"; readonly value: unknown } {
  const descriptor = Reflect.getOwnPropertyDescriptor(object, key);
  if (descriptor === undefined) return { kind: "missing", value: undefined };
  return "value" in descriptor ? { kind: "data", value: descriptor.value } : { kind: "accessor", value: undefined };
}

function hasAll<Key extends string>(
  values: Readonly<Record<string, unknown>>,
  keys: readonly Key[],
): values is Readonly<Record<Key, unknown>> {
  return keys.every((key) => Object.hasOwn(values, key));
}

/** As much of a value as a message takes. */
const SHOWN_LENGTH = 200;

/** A value in a message: text as JSON, cut short, and of anything else its type alone. */
export function shown(value: unknown): string {
  if (typeof value === "string") {
    return value.length > SHOWN_LENGTH ? `${JSON.stringify(value.slice(0, SHOWN_LENGTH))}…` : JSON.stringify(value);
  }
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  return typeof value === "undefined" ? "nothing" : `something of type ${typeof value}`;
}
