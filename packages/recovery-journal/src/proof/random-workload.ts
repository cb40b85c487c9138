import type { Step } from "../testing/workload.ts";

const PADS_BYTES = [0, 30, 700, 5000];

/** A workload of `length` steps from a seeded source: the same source gives the same steps. */
export function randomWorkload(random: () => number, length: number): Step[] {
  const pick = <T>(values: readonly T[]): T | undefined => values[Math.floor(random() * values.length)];
  const open: string[] = [];
  const steps: Step[] = [];
  let begun = 0;
  for (let step = 0; step < length; step += 1) {
    const pad = pick(PADS_BYTES) ?? 0;
    const kind = pick(["admit", "admit", "begin", "note", "end", "end", "reopen", "close"] as const);
    if (kind === "admit" || kind === "begin") {
      const ids = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
        begun += 1;
        // The second writer ends this one.
        return begun === 1 ? "a" : `w${begun}`;
      });
      open.push(...ids);
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
  return steps;
}
