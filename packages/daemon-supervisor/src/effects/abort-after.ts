import type { Clock } from "@holdfast/shared-process";

export interface TimedAbort {
  /** Aborts with a `TimeoutError`, as `AbortSignal.timeout` does, by the given clock. */
  readonly signal: AbortSignal;
  /** To be disposed of when the time does not matter any more. */
  readonly timer: Disposable;
}

export function abortAfter(clock: Clock, timeoutMs: number): TimedAbort {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new DOMException("the time was over", "TimeoutError"));
  return { signal: controller.signal, timer: clock.setTimer(timeoutMs, abort, { background: true }) };
}
