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
 * When the next relaunch is due; `null` when the budget is spent. In a recovery that a predecessor began the delay runs from the
 * launch before, which both know: supervisors that live shorter than it do not begin it anew for ever.
 */
export function relaunchAt(
  launches: readonly LaunchTime[],
  { now, inherited }: { readonly now: Millis; readonly inherited: boolean },
): Millis | null {
  const delay = RECOVERY_DELAYS_MS[launches.length];
  if (delay === undefined) return null;
  const last = launches.at(-1)?.at;
  return inherited && last !== undefined ? Math.max(now + RECOVERY_DELAYS_MS[0], last + delay) : now + delay;
}
