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

/** Rejects with the signal's reason, for what would not stop by itself. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const leave = (): void => reject(reasonOf(signal));
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });
}

const reasonOf = ({ reason }: AbortSignal): Error => (reason instanceof Error ? reason : new Error(String(reason)));
