import { problemKinds } from "@holdfast/client/protocol";
import type { ProblemKind, TrustState } from "@holdfast/client/protocol";
import type { JournalReport } from "@holdfast/recovery-journal";
import { describe, expect, it } from "vitest";
import { descriptorSchema } from "../../descriptor.ts";
import { sessionRecordOf } from "../../session-record.testing.ts";
import { judge } from "./examine.ts";
import type { Finding, Seen, SeenSession } from "./seen.ts";
import { ID, rowOf, session, sound } from "./seen.testing.ts";

const NOW = Date.parse("2030-01-01T01:00:00.000Z");
const identity = {
  machineId: "m",
  bootId: "b",
  pid: 42,
  pidNamespace: "p",
  timeNamespace: "t",
  startTicks: "1",
  pidfsInode: null,
};
const owner = {
  schemaVersion: 1,
  epoch: 7,
  home: "/h",
  identity,
  lifelinePath: null,
  socketPath: "/h/run/d7.sock",
  version: "2",
  phase: "serving",
  claimedAt: "",
} as const;

const home: Seen = {
  home: "/h",
  owner: { kind: "none" },
  epoch: 7,
  answer: { kind: "none" },
  lost: [],
  requests: { kind: "fresh" },
  trust: { kind: "list", directories: [] },
  requestsAside: [],
  orphans: [],
  unsafe: [],
  unwritable: [],
  capabilities: { boundSignals: true, peers: true, reason: null },
  unseen: [],
  version: "2",
  now: NOW,
  sessions: [],
};
const answers = { kind: "answers", version: "2", status: "current", rows: [] } as const;

const unknown = { kind: "unknown", why: "other-host" } as const;

function descriptorOf(
  more: object = {},
  verdict: NonNullable<Extract<SeenSession["descriptor"], { held: boolean }>>["verdict"] = unknown,
) {
  const paths = { socketPath: "/s", lifelinePath: null };
  const process = { generation: "g", identity, token: "t", marker: "k", ...paths };
  const stamps = { schemaVersion: 2, epoch: 7, updatedAt: "" };
  const descriptor = { ...stamps, sessionId: ID, lifecycle: "ready", process, launches: [], ...more };
  return { descriptor: descriptorSchema.parse(descriptor), verdict, held: false };
}

const refused = (why: Extract<JournalReport, { kind: "refused" }>["why"]): JournalReport => ({
  kind: "refused",
  why,
  path: "/j/e1",
  offset: 9,
  message: "bad",
});
const quarantines = [{ id: "q1", evidence: "e", sha256: "0", why: "corrupt", reason: "words", at: 1 }] as const;
const open = [
  { operationId: "a1", generation: "g", kind: "prompt", detail: {}, notes: [{ phase: "dispatched" }], sequence: 1 },
] as const;
const stop = { stopId: "s", requestedAt: "2030-01-01T00:00:00.000Z", goal: "stop", force: false };
const orphan = {
  id: "ticks:b:42:1",
  identity,
  command: "tmux",
  workerId: ID,
  home: "/h",
  proof: { name: "N", value: "v" },
  byIdentity: false,
  doubt: null,
};
const ofSession = (more: Partial<SeenSession>): Partial<Seen> => ({ sessions: [{ ...session, ...more }] });

const trusting = (state: TrustState): Partial<Seen> => ({
  trust: {
    kind: "list",
    directories: [{ directory: "/p", addedAt: "2030-01-01T00:00:00.000Z", state, reason: "words" }],
  },
});

/** What shows each kind, and nothing else. */
const cases: Readonly<Record<ProblemKind, Partial<Seen>>> = {
  owner_unknown: { owner: { kind: "unknown", why: "hidden", record: owner } },
  ownership_lost: { lost: [42] },
  daemon_silent: { owner: { kind: "alive", record: owner }, answer: { kind: "silent" } },
  daemon_protocol: { answer: { kind: "other_protocol", why: "protocol 9" } },
  daemon_stale: { answer: { ...answers, version: "1" } },
  session_unreadable: ofSession({ record: { kind: "unreadable", sessionId: ID, reason: "it is not JSON" } }),
  descriptor_damaged: ofSession({ descriptor: { damaged: "it is not JSON" } }),
  session_quarantined: ofSession({ row: rowOf("quarantined", "process 5 writes it") }),
  worker_unknown: ofSession({ descriptor: descriptorOf() }),
  stop_degraded: ofSession({ descriptor: descriptorOf({ stop }, { kind: "current", basis: "kernel-id" }) }),
  session_failed: ofSession({ row: rowOf("failed", "no such directory") }),
  session_degraded: ofSession({ row: rowOf("ready", "disk_full") }),
  in_doubt: ofSession({ journal: { ...sound, open } }),
  journal_damaged: ofSession({ journal: refused("corrupt") }),
  journal_unreadable: ofSession({ journal: refused("unsupported-version") }),
  journal_quarantined: ofSession({ journal: { ...sound, quarantines } }),
  transcript_damaged: ofSession({ transcript: { kind: "damaged", offset: 7 } }),
  requests_damaged: { requests: refused("corrupt") },
  requests_quarantined: { requests: { ...sound, quarantines } },
  requests_set_aside: { requestsAside: ["/h/journal.damaged-1"] },
  home_unwritable: { unwritable: [{ folder: "/h", errno: "EROFS", reason: "EROFS: read-only file system" }] },
  intent_unfinished: ofSession({ record: null, intents: ["/h/workers/i"] }),
  leftover: { orphans: [orphan] },
  unsafe_mode: { unsafe: [{ folder: "/h/workers", reason: "others may enter it", paths: ["/h/workers"] }] },
  trust_malformed: { trust: { kind: "malformed", reason: "/h/trust.json: directories[1]: its revision is no UUID" } },
  trust_replaced: trusting("replaced"),
  trust_missing: trusting("missing"),
  trust_unreadable: trusting("unreadable"),
  narrow_signals: { capabilities: { boundSignals: false, peers: true, reason: "no library" } },
  no_peer_check: { capabilities: { boundSignals: true, peers: false, reason: "no library" } },
  not_seen: { unseen: [{ subject: "processes", reason: "hidepid", denied: false }] },
};

const find = (more: Partial<Seen>): Finding[] => judge({ ...home, ...more });
const kindsOf = (more: Partial<Seen>): ProblemKind[] => find(more).map(({ problem }) => problem.kind);

const needsOf = (more: Partial<Seen>) => find(more).map(({ problem }) => problem.needs);

describe("judge", () => {
  it("finds nothing in a home that is well", () => {
    expect(
      find({ owner: { kind: "alive", record: owner }, answer: answers, ...ofSession({ row: rowOf("ready") }) }),
    ).toEqual([]);
  });

  it("shows every kind there is", () => {
    expect(Object.keys(cases).toSorted()).toEqual(Object.keys(problemKinds).toSorted());
  });

  it.each(Object.entries(cases))("tells %s, with a reason", (kind, seen) => {
    const found = find(seen);
    expect(found.map(({ problem }) => problem.kind)).toEqual([kind]);
    expect(found[0]?.problem.reason).not.toBe("");
  });

  it("I164 every way out of `unknown` takes a person's word, and none is offered against what is seen to live", () => {
    const life = { kind: "unknown", why: "it cannot be observed" } as const;
    expect(needsOf(cases.owner_unknown)).toEqual([["gone"]]);
    expect(needsOf(cases.worker_unknown)).toEqual([["gone"]]);
    expect(needsOf(ofSession({ descriptor: { damaged: "bad" }, life }))).toEqual([["gone"]]);
    expect(needsOf(ofSession({ descriptor: { damaged: "bad" } }))).toEqual([[]]);
    expect(needsOf(ofSession({ journal: refused("corrupt"), life }))).toEqual([["loss", "gone"]]);
    const alive = { kind: "alive", why: "process 5 runs" } as const;
    const unreadable = { kind: "unreadable", sessionId: ID, reason: "bad" } as const;
    for (const seen of [
      ofSession({ descriptor: { damaged: "bad" }, life: alive }),
      ofSession({ record: unreadable, life: alive }),
      ofSession({ journal: refused("corrupt"), life: alive }),
      ofSession({ descriptor: { ...descriptorOf(), held: true } }),
    ])
      expect(find(seen).map(({ action }) => action)).toEqual([null]);
  });

  describe("of a session that a living daemon serves", () => {
    const alive = { kind: "alive", why: "process 5 runs" } as const;
    const unreadable = { kind: "unreadable", sessionId: ID, reason: "it is not JSON" } as const;
    const row = { ...rowOf("ready"), name: "s", pid: 5 };
    const damaged = { damaged: "it is not JSON" };

    it.each([
      { record: unreadable, kind: "session_unreadable", next: `agent session rename ${ID} s writes it anew` },
      { record: null, descriptor: damaged, kind: "session_unreadable", next: "put its folder back" },
      { descriptor: damaged, kind: "descriptor_damaged", next: `move workers/${ID}.json out of the home` },
      { descriptor: damaged, denied: ["/h/x: EACCES"], kind: "not_seen", next: "make it readable" },
    ])("nobody is told to end its process: $kind", ({ kind, next, ...more }) => {
      const [first, ...others] = find(ofSession({ life: alive, row, ...more }));
      expect(first?.problem).toMatchObject({ kind, repair: expect.stringContaining(next) });
      expect(first?.problem.reason).toContain("the daemon holds the session in memory");
      for (const { problem } of [first, ...others].filter((found) => found !== undefined))
        expect([problem.repair, problem.needs]).toEqual([expect.not.stringContaining("end that process"), undefined]);
    });

    it("what it runs was left by nobody, and what an earlier worker of a sound one left was", () => {
      expect(kindsOf({ orphans: [orphan], ...ofSession({ row, descriptor: damaged }) })).toEqual([
        "descriptor_damaged",
      ]);
      const named = descriptorOf({}, { kind: "current", basis: "kernel-id" });
      expect(kindsOf({ orphans: [orphan], ...ofSession({ row, descriptor: named, journal: sound }) })).toEqual([
        "leftover",
      ]);
      expect(kindsOf({ orphans: [orphan], ...ofSession({ row: null, descriptor: damaged }) })).toEqual([
        "leftover",
        "descriptor_damaged",
      ]);
    });

    it("of one at rest the daemon has no record in memory, and of one that stops it soon has none", () => {
      const resting = find(ofSession({ record: unreadable, row: rowOf("stopped") }));
      expect(resting).toMatchObject([{ problem: { needs: ["loss"] }, action: { repair: "set_aside_session" } }]);
      const stopping = find(ofSession({ record: unreadable, life: alive, row: rowOf("stopping") }));
      expect(stopping).toMatchObject([{ problem: { repair: "look again once its stop has ended" }, action: null }]);
    });

    it("a daemon that is silent may hold it, too", () => {
      const silent = { owner: { kind: "alive", record: owner }, answer: { kind: "silent" } } as const;
      const found = find({ ...silent, ...ofSession({ record: unreadable, life: alive }) });
      expect(found.at(-1)?.problem.repair).toContain("once the daemon answers");
    });
  });

  it("what this user may not read is not damaged, and comes back with its rights", () => {
    const denied = ["/h/sessions/s/session.json: EACCES"];
    const unreadable = { kind: "unreadable", sessionId: ID, reason: "session.json is unreadable" } as const;
    const seen = { record: unreadable, denied };
    const [found, ...others] = find(ofSession(seen));
    expect(others).toEqual([]);
    expect(found?.problem).toMatchObject({ kind: "not_seen", subject: ID, reason: denied[0] });
    expect(found?.problem.repair).toMatch(/make it readable .* the next start of a daemon brings the session back/);
    const row = rowOf("quarantined", unreadable.reason);
    expect(find(ofSession({ ...seen, row }))[0]?.problem.repair).toContain("agent daemon restart");
    expect(find(ofSession({ row }))).toMatchObject([
      { action: null, problem: { repair: expect.stringContaining("agent daemon restart") } },
    ]);
    const journal = { ...refused("unreadable"), message: "EACCES: permission denied, open '/j/e1'" };
    expect(find(ofSession({ journal }))[0]?.problem).toMatchObject({
      kind: "journal_unreadable",
      repair: expect.stringContaining("make it readable"),
    });
  });

  it("I117 tells what could not be listed once, with a next step", () => {
    const unseen = [{ subject: "/h/sessions", reason: "ENOTDIR", denied: false }];
    const unsafe = [{ folder: "/h/sessions", reason: "it is not a directory", next: "put it back" }];
    expect(kindsOf({ unseen, unsafe })).toEqual(["unsafe_mode"]);
    expect(find({ unseen: [{ subject: "/h/sessions", reason: "EACCES", denied: true }] })[0]?.problem.repair).toContain(
      "chmod u+rwx",
    );
  });

  it("says who puts a damaged journal of requests aside: a daemon that lives has it open", () => {
    const next = {
      none: /^the first request to the next daemon/,
      silent: /open, the first one after agent daemon restart/,
    };
    for (const kind of ["none", "silent"] as const)
      expect(find({ requests: refused("corrupt"), answer: { kind } }).at(-1)?.problem.repair).toMatch(next[kind]);
  });

  it("an owner that answers needs no assertion, whatever can be seen of it", () => {
    expect(kindsOf({ ...cases.owner_unknown, answer: answers })).toEqual([]);
  });

  it("I126 calls a daemon stale only where its version really differs", () => {
    expect(kindsOf({ answer: answers })).toEqual([]);
    expect(kindsOf({ answer: { ...answers, version: "2.0.1" } })).toEqual(["daemon_stale"]);
  });

  it("a worker that the daemon has reached is not unknown, and what it has begun is not in doubt", () => {
    const reached = { descriptor: descriptorOf(), row: rowOf("ready"), journal: { ...sound, released: false, open } };
    expect(kindsOf(ofSession(reached))).toEqual([]);
  });

  it("I142 one session's trouble hides no other's", () => {
    const sessions = [...(cases.descriptor_damaged.sessions ?? []), ...(cases.session_failed.sessions ?? [])];
    expect(kindsOf({ sessions })).toEqual(["descriptor_damaged", "session_failed"]);
  });

  it("names the values that a failed session needs", () => {
    const failure = { code: "needs_fresh_environment", reason: "KEY is not stored" } as const;
    const record = { ...sessionRecordOf(ID), secretNames: ["KEY"], failure };
    expect(find(ofSession({ record: { kind: "record", record } }))[0]?.problem.repair).toBe(
      `agent session resume ${ID} --env KEY`,
    );
  });
});
