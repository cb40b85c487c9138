/** Deadlines of CLI.md §6, in milliseconds. */
export const START_DEADLINE_MS = 30_000;
/** A worker that said it cannot start has this long to exit. */
export const START_FAILED_KILL_MS = 5_000;
/** No answer to a stop counts as silence after this. */
export const SILENCE_MS = 1_000;
/** A passivation that is merely asked for ends nobody: a busy machine may take longer to answer it. */
export const PASSIVATE_SILENCE_MS = 5_000;
/** From a silent worker's stop to its SIGKILL: deadline 2 s, then 5 s. */
export const SILENT_KILL_MS = 2_000 + 5_000;
/** On top of an acknowledged grace. */
export const GRACE_MARGIN_MS = 1_000;
/** Silence after an acknowledgement that revokes the grace; the worker reports each second. */
export const REVOKED_MS = 3_000;
/** From the SIGTERM that follows a revoked grace to SIGKILL. */
export const REVOKED_KILL_MS = 5_000;
/** Forced stop: SIGTERM to SIGKILL. */
export const FORCED_KILL_MS = 500;
/** A SIGKILL that was refused or has not shown is tried again. */
export const KILL_RETRY_MS = 1_000;
/** A launch that a stop overtook: its child exits by itself when its gate closes. */
export const DISCARD_KILL_MS = 2_000;
export const CLEAN_UP_RETRY_MS = 5_000;
/** A stop that has not ended by then is shown as degraded. */
export const DEGRADED_MS = 10 * 60_000;
/** What a worker found under a stop intent at boot may take to be reached before it counts as silent. */
export const ADOPTION_MS = 2_000;
/** A launch that found a resource used up is tried again after this. */
export const RESOURCE_RETRY_MS = 5_000;
