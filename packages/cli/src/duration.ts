import { usage } from "./usage.ts";

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
/** Longest delay that a timer of Node keeps; a longer one would fire at once. */
export const MAX_DURATION_MS = 2_147_483_647;

/** Milliseconds of `500ms`, `10s`, `5m`, `1h`. */
export function parseDuration(text: string, option: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  const factor = unit === "ms" || unit === "s" || unit === "m" || unit === "h" ? UNIT_MS[unit] : null;
  if (digits === undefined || factor === null)
    throw usage(`${option}: not a duration: ${JSON.stringify(text)}`, "500ms, 10s, 5m or 1h");
  const milliseconds = Number(digits) * factor;
  if (milliseconds > MAX_DURATION_MS) throw usage(`${option}: longer than 24 days: ${text}`, "a shorter time");
  return milliseconds;
}
