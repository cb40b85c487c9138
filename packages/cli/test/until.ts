/** Polls until the condition holds; fails after twenty seconds, which a busy machine may need. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error("not within 20 s");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
