/** Linux takes no longer path (`PATH_MAX`, with the NUL at its end) and no longer name (`NAME_MAX`). In bytes. */
export const PATH_LIMIT_BYTES = 4096;
export const NAME_LIMIT_BYTES = 255;

export type PathReason = "not_a_string" | "not_absolute" | "not_canonical" | "nul" | "too_long" | "lone_surrogate";

export type PathVerdict<Good extends string> =
  | { readonly kind: Good; readonly path: string }
  | { readonly kind: "refused"; readonly reason: PathReason };

/**
 * Whether a value is an exact canonical absolute path: one spelling for each directory, as far as a string can tell.
 * `/` is one. Whether a link or an alias is in it only the file system can say.
 */
export function canonicalPath(value: unknown): PathVerdict<"canonical"> {
  if (typeof value !== "string") return refused("not_a_string");
  if (!value.startsWith("/")) return unfitTextOf(value) ?? refused("not_absolute");
  return (value === "/" ? null : unfitPathOf(value, componentsOf(value))) ?? { kind: "canonical", path: value };
}

/** Whether a value names something below a directory: `a/b`, as exact as a canonical path is. */
export function relativePath(value: unknown): PathVerdict<"relative"> {
  if (typeof value !== "string") return refused("not_a_string");
  return unfitPathOf(value, value.split("/")) ?? { kind: "relative", path: value };
}

/** The names on the way to a canonical path, from `/` on. */
export const componentsOf = (canonical: string): readonly string[] =>
  canonical === "/" ? [] : canonical.slice(1).split("/");

function unfitPathOf(path: string, components: readonly string[]): ReturnType<typeof refused> | null {
  const unfit = unfitTextOf(path);
  if (unfit !== null) return unfit;
  // An empty one stands between two slashes, behind the last, or, of a relative path, before the first.
  if (components.some((name) => name === "" || name === "." || name === "..")) return refused("not_canonical");
  return components.some((name) => Buffer.byteLength(name) > NAME_LIMIT_BYTES) ? refused("too_long") : null;
}

function unfitTextOf(text: string): ReturnType<typeof refused> | null {
  // First what bounds the work of the rest; a string has at least one byte for each unit.
  if (text.length >= PATH_LIMIT_BYTES || Buffer.byteLength(text) >= PATH_LIMIT_BYTES) return refused("too_long");
  if (text.includes("\0")) return refused("nul");
  // It would reach the file system as U+FFFD, which is another name.
  return /\p{Surrogate}/u.test(text) ? refused("lone_surrogate") : null;
}

const refused = (reason: PathReason) => ({ kind: "refused", reason }) as const;
