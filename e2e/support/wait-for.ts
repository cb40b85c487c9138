const POLL_MS = 20;

type Maybe<T> = T | false | null | undefined;

/** Polls until `condition` gives a value that is neither false, null nor undefined, and returns it; fails after `timeoutMs`. */
export async function waitFor<T>(
  condition: () => Maybe<T> | Promise<Maybe<T>>,
  what: string,
  timeoutMs = 10_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== false && value !== null && value !== undefined) return value;
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await pause(POLL_MS);
  }
}

/** For tests whose subject is a moment, such as a kill at 40 ms; a condition is waited for with `waitFor`. */
export async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
