/** One line of counts, so that a run says how much it went through. */
export function printCounts(suite: string, counts: Readonly<Record<string, number>>): void {
  const parts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  // oxlint-disable-next-line no-console -- the counts are for whoever runs the suite
  console.info(`${suite}: ${parts.join(", ")}`);
}
