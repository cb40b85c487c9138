export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[middle]];
  if (low === undefined || high === undefined) throw new Error("no values to take the median of");
  return (low + high) / 2;
}

/** Milliseconds of wall time. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await run();
  return performance.now() - from;
}

interface Alternating {
  readonly rounds: number;
  /** Each gives the number that it measured. */
  readonly floor: (round: number) => Promise<number>;
  readonly subject: (round: number) => Promise<number>;
}

/** Medians of both, measured in turn, so that a machine that becomes slower meanwhile is slower for both. */
export async function alternating({ rounds, floor, subject }: Alternating): Promise<{ value: number; floor: number }> {
  const floors: number[] = [];
  const values: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    floors.push(await floor(round));
    values.push(await subject(round));
  }
  return { value: median(values), floor: median(floors) };
}
