import { createTrustedRoot } from "./trusted-root.ts";
import type { TrustState } from "./trust-state.ts";
import type { Outcome, TrustedOperation } from "./types.ts";

/**
 * Runs an operation in the directory itself, which is open all the while; what is at its path before and after must be
 * it.
 */
export async function runTrusted<T>(
  state: TrustState,
  binding: unknown,
  operation: TrustedOperation<T>,
): Promise<Outcome<T>> {
  const opened = state.open(binding);
  if (opened.kind === "denied") return opened;
  const { record, pin } = opened;
  const revocation = new AbortController();
  const listening = state.bindings.listen(record, () => revocation.abort());
  let isRunning = true;
  const root = createTrustedRoot(state.calls, pin, () => isRunning && record.state.kind === "live");
  const use = pin.use();
  let value: T;
  try {
    value = await operation(root, { signal: revocation.signal });
  } finally {
    isRunning = false;
    use.release();
    listening[Symbol.dispose]();
  }
  const after = state.validate(binding);
  return after.kind === "denied" ? after : { kind: "done", value };
}
