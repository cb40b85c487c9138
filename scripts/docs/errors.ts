import { errorCodes, problemKinds } from "../../packages/client/src/protocol/index.ts";
import { GENERATED, code, page, table } from "./markdown.ts";

type Exit = (typeof errorCodes)[keyof typeof errorCodes]["exit"];

const meanings: Record<Exit, string> = {
  1: "failed",
  2: "usage",
  3: "no daemon, or it does not answer",
  4: "not found",
  5: "conflict, or ambiguous",
  6: "not accepted now; safe to try again",
  7: "refused",
  8: "accepted but not finished, or in doubt: do not repeat",
};

function exitTable(): string {
  const rows = Object.entries(meanings).map(([exit, meaning]) => [exit, meaning]);
  return table(["exit", "meaning"], [["0", "done"], ...rows, ["130", "interrupted from the terminal"]]);
}

function codeTable(): string {
  const rows = Object.entries(errorCodes).map(([name, { exit, retryable }]) => [
    code(name),
    String(exit),
    retryable ? "yes" : "no",
  ]);
  return table(["code", "exit", "retryable"], rows);
}

const problemTable = (): string =>
  table(
    ["kind", "meaning"],
    Object.entries(problemKinds).map(([kind, meaning]) => [code(kind), meaning]),
  );

export const errorsPage = (): string =>
  page(
    "# Exit codes and error codes",
    GENERATED,
    "The source is `packages/client/src/protocol/codes.ts`. The set is closed; not every code has a use in this version.",
    'On standard error `agent` writes `error: MESSAGE` and `hint: NEXT STEP`. With `--json` it writes one line there: `{"error":{"code","message","retryable","hint","requestId"}}`.',
    "## Exit codes",
    exitTable(),
    "`agent journal show` and `agent journal verify` exit 7 with their whole answer on standard output when the journal is refused (why, in which file and at which byte), and when it has a quarantine that nobody has resolved.",
    "With `--exit-code`, `agent prompt` passes the status of a `shell` command on, and its own errors exit 125.",
    "## Error codes",
    "Of the errors of a journal and of small files ([recovery-journal](../packages/recovery-journal/README.md#errors)), clients see `disk_full`, `too_many_open_files` and `unsafe_directory` under these names, `journal_full` as `capacity`, an open journal that takes nothing more as `session_failed`, a refused or quarantined one in the session's `reason`, and any other as `internal`.",
    "Retryable: the same request may be sent again.",
    codeTable(),
    "## Problems",
    "What `agent doctor` may find. The source is `packages/client/src/protocol/problems.ts`; the set is closed. Finding something is no failure: the exit status is 0, and 1 only where a repair that was agreed to failed.",
    problemTable(),
  );
