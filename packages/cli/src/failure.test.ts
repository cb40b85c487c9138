import { ProtocolError, errorCodes, isErrorCode } from "@holdfast/client/protocol";
import { describe, expect, it } from "vitest";
import { exitOf, failureOf, failureText } from "./failure.ts";

/** CLI.md §4, word for word. */
const contract: Record<number, string> = {
  1: "turn_failed turn_refused turn_limited turn_cancelled command_failed agent_crashed agent_auth_required internal",
  2: "usage invalid_name invalid_config confirmation_required path_too_long",
  3: "daemon_not_running daemon_not_responding daemon_start_failed version_mismatch",
  4: "session_not_found agent_not_found child_not_found request_not_found file_not_found",
  5:
    "ambiguous name_in_use not_archived session_stopped session_archived session_running session_busy daemon_busy " +
    "request_id_reused session_in_use ownership_lost",
  6:
    "session_stopping session_failed worker_not_responding worker_still_stopping capacity disk_full " +
    "too_many_open_files needs_fresh_environment rate_limited",
  7:
    "project_not_trusted permission_denied worker_identity_unknown session_quarantined unsafe_directory " +
    "outside_project stale_assignment depth_limit not_family",
  8: "stopping interrupted in_doubt timeout",
};

describe("exit status", () => {
  it("is that of the contract for every code, and no code is missing", () => {
    const listed = Object.entries(contract).flatMap(([exit, codes]) =>
      codes.split(" ").map((code): [string, number] => [code, Number(exit)]),
    );
    expect(Object.keys(errorCodes).toSorted()).toEqual(listed.map(([code]) => code).toSorted());
    for (const [code, exit] of listed) expect([code, isErrorCode(code) && exitOf(code)]).toEqual([code, exit]);
  });
});

describe("an error", () => {
  it("of a lower layer keeps its code where the contract has it", () => {
    expect(failureOf(Object.assign(new Error("others may enter"), { code: "unsafe_directory" }))).toMatchObject({
      code: "unsafe_directory",
      message: "others may enter",
    });
    const full = Object.assign(new Error("full"), { code: "ENOSPC" });
    expect(failureOf(full).code).toBe("disk_full");
  });

  it.each([
    "not_replaced",
    "maybe_replaced",
    "replaced_not_durable",
    "not_published",
    "maybe_published",
    "published_not_durable",
    "journal_unavailable",
  ])("that says what became of a file is told by the code of what is behind it: %s", (code) => {
    for (const [errno, known] of [
      ["ENOSPC", "disk_full"],
      ["EFBIG", "disk_full"],
      ["EMFILE", "too_many_open_files"],
    ] as const) {
      const cause = Object.assign(new Error("behind"), { code: errno });
      const error = Object.assign(new Error("not claimed", { cause }), { code });
      expect(failureOf(error)).toMatchObject({ code: known, message: "not claimed" });
    }
  });

  it("I151 that nobody expected is internal, without a stack", () => {
    const text = failureText(failureOf(new TypeError("x is undefined")), { json: false, requestId: null });
    expect(text).toBe("error: internal: x is undefined\n");
  });

  it("is a sentence and the next step for people", () => {
    const error = new ProtocolError("daemon_not_running", "no daemon", { hint: "agent daemon start" });
    expect(failureText(error, { json: false, requestId: null })).toBe("error: no daemon\nhint: agent daemon start\n");
  });

  it("is one line for programs, with all its fields", () => {
    const text = failureText(new ProtocolError("capacity", "two\nlines"), { json: true, requestId: "r-1" });
    expect(text.split("\n")).toHaveLength(2);
    expect(JSON.parse(text)).toEqual({
      error: { code: "capacity", message: "two\nlines", retryable: true, hint: null, requestId: "r-1" },
    });
  });

  it("cannot bring line breaks or terminal sequences to people", () => {
    const error = new ProtocolError("session_not_found", "no session \u001b[31mred\n\u202eerror: forged");
    expect(failureText(error, { json: false, requestId: null })).toBe("error: no session  [31mred error: forged\n");
  });
});
