import { expect, it } from "vitest";
import { judgeSession } from "./judge-session.ts";
import type { SeenSession } from "./seen.ts";
import { ID, rowOf, session, sound } from "./seen.testing.ts";

const nextOf = (more: Partial<SeenSession>) =>
  judgeSession({ ...session, ...more }, { now: 0, answer: { kind: "none" } }).map(({ problem }) => [
    problem.kind,
    problem.repair,
  ]);

const serving = { row: { ...rowOf("ready"), pid: 5 }, journal: sound };
it("says what opens a journal anew that a worker has lost, and that the one of a session at rest is not needed", () => {
  const reopens = `agent session stop ${ID}, then agent session resume ${ID}`;
  const gone = { ...serving, journal: { kind: "fresh" } } as const;
  expect(nextOf(gone)).toEqual([["session_degraded", `put sessions/${ID}/journal back, or ${reopens}`]]);
  expect(nextOf({ ...serving, row: { ...serving.row, reason: "the journal was fenced" } })).toEqual([
    ["session_degraded", reopens],
  ]);
  for (const reason of ["disk_full", "its records cannot be written: ENOSPC"])
    expect(nextOf({ ...serving, row: { ...serving.row, reason } })[0]?.[1]).toContain("by itself");
  expect(nextOf({ ...gone, row: rowOf("stopped") })).toEqual([]);
});

it("tells a transcript that was taken from its worker, and no other that is not there", () => {
  const transcript = { kind: "missing" } as const;
  expect(nextOf({ ...serving, transcript })).toEqual([["transcript_damaged", expect.stringContaining("writes all")]]);
  expect(nextOf({ row: rowOf("stopped"), transcript })).toEqual([]);
  expect(nextOf({ transcript })).toEqual([]);
});

it("I154 a session that failed for its transcript is resumed once that is mended", () => {
  const transcript = { kind: "unreadable", why: "/t cannot be read: EISDIR" } as const;
  expect(nextOf({ row: rowOf("failed", "EISDIR"), transcript })).toEqual([
    ["session_failed", expect.stringContaining("first what is told of its transcript")],
    ["transcript_damaged", expect.stringMatching(/^move it away.* agent session resume/)],
  ]);
  const denied = { kind: "unreadable", why: "/t cannot be read: EACCES" } as const;
  expect(nextOf({ transcript: denied })[0]?.[1]).toContain("make it readable");
});

it.each([
  ["stopped", `put its folder back; or agent session delete ${ID} forgets it`],
  ["quarantined", "put its folder back; or agent daemon restart, which keeps the workers, forgets it"],
  ["failed", "put its folder back, or make an empty one (mkdir -m 700"],
] as const)("a %s session of which only the daemon knows has a way out", (state, next) => {
  const seen = { record: null, row: rowOf(state, "session.json is missing") };
  expect(nextOf(seen)).toEqual([["session_unreadable", expect.stringContaining(next)]]);
});

it("tells of a failed session with a damaged journal to mend that first", () => {
  const journal = { kind: "refused", why: "corrupt", path: "/j/e1", offset: 9, message: "bad" } as const;
  const [failed] = nextOf({ row: rowOf("failed", "bad"), journal });
  expect(failed).toEqual(["session_failed", expect.stringMatching(/^first .*journal/)]);
});
