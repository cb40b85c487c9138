import type { LaunchTime, Millis } from "./state.ts";

/** Delay before the n-th relaunch inside the window; their number is the budget (CLI.md §6). */
export const RECOVERY_DELAYS_MS = [250, 1_000, 5_000, 5_000, 5_000] as const;
export const RECOVERY_WINDOW_MS = 5 * 60_000;

/** The launches that still count. Times of another boot are on another clock: they are over. */
export function withinWindow(
  launches: readonly LaunchTime[],
  now: { readonly at: Millis; readonly bootId: string | null },
): readonly LaunchTime[] {
  return launches.filter(
    (launch) => launch.bootId === now.bootId && launch.at <= now.at && now.at - launch.at < RECOVERY_WINDOW_MS,
  );
}

/**
 * When the next relaunch is due; `null` when the budget is spent. A delay runs from the launch before, which a successor
 * knows too: supervisors that live shorter than the delay do not begin it anew for ever.
 */
export function relaunchAt(launches: readonly LaunchTime[], now: Millis): Millis | null {
  const delay = RECOVERY_DELAYS_MS[launches.length];
  const last = launches.at(-1)?.at ?? now;
  return delay === undefined ? null : Math.max(now + RECOVERY_DELAYS_MS[0], last + delay);
}
