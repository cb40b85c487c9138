/** The numbers of CLI.md §6 that more than one package needs. Milliseconds and bytes. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
export const MAX_QUEUED_TEXT_BYTES = 8 * 1024 * 1024;
/** A connected but silent daemon: said after the first, given up after the second. */
export const SILENT_DAEMON_NOTICE_MS = 2_000;
export const SILENT_DAEMON_TIMEOUT_MS = 30_000;
export const DAEMON_START_TIMEOUT_MS = 10_000;
/** How long a start waits for a home that is being stopped by force. */
export const MAINTENANCE_TIMEOUT_MS = 30_000;
export const STOP_NO_WAIT_MS = 1_500;
export const WORKER_STILL_STOPPING_MS = 10_000;
export const LIST_PAGE = 200;
export const SESSION_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
