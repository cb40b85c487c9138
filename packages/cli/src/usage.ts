import { ProtocolError } from "@holdfast/client/protocol";
import type { CommanderError } from "commander";

export const usage = (message: string, hint?: string): ProtocolError =>
  new ProtocolError("usage", message, hint === undefined ? {} : { hint });

/** Commander's own complaint in our form: its suggestion becomes the hint. */
export function usageOf(error: CommanderError): ProtocolError {
  const [first = "", second = ""] = error.message.replace(/^error: /, "").split("\n");
  const suggestion = /^\((Did you mean .*\?)\)$/.exec(second)?.[1];
  const dashed = error.code === "commander.unknownOption" ? "put -- before text that begins with -" : undefined;
  return usage(first, suggestion ?? dashed ?? "agent help");
}

/** The known word within two typing errors of this one, as commander finds it for its own words. */
export function nearest(word: string, known: readonly string[]): string | null {
  let best: { name: string; distance: number } | null = null;
  for (const name of known) {
    const distance = typingErrors(word, name);
    if (distance <= 2 && distance < name.length && (!best || distance < best.distance)) best = { name, distance };
  }
  return best?.name ?? null;
}

/** Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours. */
function typingErrors(a: string, b: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(changed, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, swap));
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
