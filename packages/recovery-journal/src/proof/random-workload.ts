import type { Step } from "./workload.ts";

const PADS_BYTES = [0, 30, 700, 5000];
const KINDS = ["admit", "admit", "begin", "restore", "remember", "note", "end", "end", "reopen", "close"] as const;
/** One in so many begins with a quarantine, which is resolved somewhere in it. */
const QUARANTINE_EVERY = 3;

/** A workload of `length` steps from a seeded source: the same source gives the same steps. */
export function randomWorkload(random: () => number, length: number): Step[] {
  const pick = <T>(values: readonly T[]): T | undefined => values[Math.floor(random() * values.length)];
  const open: string[] = [];
  const steps: Step[] = [];
  let begun = 0;
  for (let step = 0; step < length; step += 1) {
    const pad = pick(PADS_BYTES) ?? 0;
    const kind = pick(KINDS);
    if (kind === "admit" || kind === "begin" || kind === "restore" || kind === "remember") {
      const ids = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
        begun += 1;
        // The second writer ends this one.
        return begun === 1 ? "a" : `w${begun}`;
      });
      if (kind !== "remember") open.push(...ids);
      steps.push({ do: kind, ids, pad });
    } else if (kind === "note" || kind === "end") {
      const id = pick(open);
      if (id === undefined) continue;
      if (kind === "end") open.splice(open.indexOf(id), 1);
      steps.push({ do: kind, ids: [id], pad });
    } else {
      if (kind === "close") steps.push({ do: "close" });
      steps.push({ do: "reopen" });
    }
  }
  if (random() * QUARANTINE_EVERY >= 1) return steps;
  const place = Math.floor(random() * steps.length);
  const [before, after] = [steps.slice(0, place), steps.slice(place)];
  return [{ do: "quarantine" }, { do: "reopen" }, ...before, { do: "resolve" }, ...after];
}
