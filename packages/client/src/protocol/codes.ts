/** How `agent` exits for each error code (CLI.md §4), and whether the same request may be sent again. The one table; a closed set. */
interface CodeMeaning {
  readonly exit: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;
  readonly retryable: boolean;
}

const failed = { exit: 1, retryable: false } as const;
const usage = { exit: 2, retryable: false } as const;
const noDaemon = { exit: 3, retryable: true } as const;
const notFound = { exit: 4, retryable: false } as const;
const conflict = { exit: 5, retryable: false } as const;
const notNow = { exit: 6, retryable: true } as const;
const refused = { exit: 7, retryable: false } as const;
const unfinished = { exit: 8, retryable: false } as const;

export const errorCodes = {
  turn_failed: failed,
  turn_refused: failed,
  turn_limited: failed,
  turn_cancelled: failed,
  command_failed: failed,
  agent_crashed: failed,
  agent_auth_required: failed,
  internal: failed,
  usage,
  invalid_name: usage,
  invalid_config: usage,
  confirmation_required: usage,
  path_too_long: usage,
  daemon_not_running: noDaemon,
  daemon_not_responding: noDaemon,
  daemon_start_failed: noDaemon,
  version_mismatch: noDaemon,
  session_not_found: notFound,
  agent_not_found: notFound,
  child_not_found: notFound,
  request_not_found: notFound,
  file_not_found: notFound,
  ambiguous: conflict,
  name_in_use: conflict,
  not_archived: conflict,
  session_stopped: conflict,
  session_archived: conflict,
  session_running: conflict,
  session_busy: conflict,
  daemon_busy: conflict,
  request_id_reused: conflict,
  session_in_use: conflict,
  ownership_lost: conflict,
  session_stopping: notNow,
  session_failed: notNow,
  worker_not_responding: notNow,
  worker_still_stopping: notNow,
  capacity: notNow,
  disk_full: notNow,
  too_many_open_files: notNow,
  needs_fresh_environment: notNow,
  rate_limited: notNow,
  project_not_trusted: refused,
  permission_denied: refused,
  worker_identity_unknown: refused,
  session_quarantined: refused,
  unsafe_directory: refused,
  outside_project: refused,
  stale_assignment: refused,
  depth_limit: refused,
  not_family: refused,
  stopping: unfinished,
  interrupted: unfinished,
  in_doubt: unfinished,
  timeout: unfinished,
} as const satisfies Record<string, CodeMeaning>;

export type ErrorCode = keyof typeof errorCodes;

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errorCodes, text);

const errnoCodes: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: "disk_full",
  EDQUOT: "disk_full",
  EFBIG: "disk_full",
  EMFILE: "too_many_open_files",
  ENFILE: "too_many_open_files",
  EACCES: "permission_denied",
  EPERM: "permission_denied",
  EROFS: "permission_denied",
  ENAMETOOLONG: "path_too_long",
};

/** What a system error is to a client, by its error number's name; `null` where only a person can tell. */
export const codeOfErrno = (errno: string): ErrorCode | null => errnoCodes[errno] ?? null;

/** An expected failure that crosses the control protocol. `hint` is what to type next; `data` is for programs. */
export class ProtocolError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly data: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, message: string, more: { hint?: string; data?: Record<string, unknown> } = {}) {
    super(message);
    this.name = "ProtocolError";
    this.code = code;
    this.hint = more.hint;
    this.data = more.data;
  }

  get retryable(): boolean {
    return errorCodes[this.code].retryable;
  }
}
