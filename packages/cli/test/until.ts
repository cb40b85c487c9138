/** Polls until the condition holds; fails after five seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error("not within 5 s");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
