/** Ctrl-C reaches a program twice when a package runner passes it on as well. */
export const REPEAT_MS = 500;
/** A second Ctrl-C within this time means more than the first. */
export const SECOND_MS = 2_000;

export type Interrupt = "first" | "repeat" | "second";

/** What a Ctrl-C at `now` means after one at `previous`. Milliseconds. */
export function classifyInterrupt(previous: number | null, now: number): Interrupt {
  if (previous === null || now - previous > SECOND_MS) return "first";
  return now - previous < REPEAT_MS ? "repeat" : "second";
}
