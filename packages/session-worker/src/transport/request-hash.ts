import { createHash } from "node:crypto";

/** SHA-256 (hex) over method and content in canonical JSON: keys sorted, absent and `undefined` members alike (I143). */
export const requestHash = (method: string, content: object): string =>
  createHash("sha256")
    .update(canonical([method, content]))
    .digest("hex");

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`);
  return `{${members.join(",")}}`;
}
