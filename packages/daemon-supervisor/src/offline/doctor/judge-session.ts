import type { Assertion } from "@holdfast/client/protocol";
import { DEGRADED_MS } from "../../times.ts";
import { UNWRITTEN } from "../../rows.ts";
import { repairable, told } from "./finding.ts";
import { fileFindings, reopen } from "./judge-files.ts";
import { unreadFindings } from "./judge-unread.ts";
import type { Finding, SeenHome, SeenSession } from "./seen.ts";
import { holdsRecord, isDamaged } from "./served.ts";

type Around = Pick<SeenHome, "now" | "answer">;
type Daemon = Around["answer"]["kind"];

/** Pure: what is wrong with one session. */
export function judgeSession(seen: SeenSession, { now, answer: { kind: daemon } }: Around): Finding[] {
  const unread = unreadFindings(seen);
  if (unread.length > 0) return unread;
  const inert = holdsRecord(seen) ? [] : inertFindings(seen, daemon);
  if (inert.length > 0) return inert;
  return [
    ...workerFindings(seen),
    ...stopFindings(seen, now),
    ...failureFindings(seen),
    ...doubtFindings(seen),
    ...journalFindings(seen),
    ...fileFindings(seen),
  ];
}

/** `unknown` needs a person's word; what lives is never believed to be gone. */
const goneWords = ({ life }: SeenSession): readonly Assertion[] => (life.kind === "unknown" ? ["gone"] : []);
const andLife = (reason: string, { life }: SeenSession): string =>
  life.kind === "gone" ? reason : `${reason}; ${life.why}`;

const readable = ({ descriptor }: SeenSession) => (descriptor === null || isDamaged(descriptor) ? null : descriptor);

function endIt(daemon: Daemon, { sessionId, record, row }: SeenSession): string {
  if (row?.state === "stopping") return "look again once its stop has ended";
  // A daemon that lives and does not say so may well have the session in memory, and its worker at work.
  return daemon === "silent" || daemon === "other_protocol"
    ? "look again once the daemon answers: it may hold the session in memory"
    : `${record === null ? `put its folder, sessions/${sessionId}, back and start the daemon anew (agent daemon restart keeps the workers); or ` : ""}end that process, then look again`;
}

function inertFindings(seen: SeenSession, daemon: Daemon): Finding[] {
  const { sessionId: subject, record, descriptor, intents, row } = seen;
  if (record?.kind === "unreadable") {
    const what = { kind: "session_unreadable", subject, reason: andLife(record.reason, seen) } as const;
    if (seen.life.kind === "alive") return [told(what, endIt(daemon, seen))];
    return [
      repairable(what, {
        repair: "move its whole directory, and what names it, to damaged/ in the home; nothing is deleted",
        needs: ["loss", ...goneWords(seen)],
        action: { by: "daemon", repair: "set_aside_session", subject },
      }),
    ];
  }
  if (isDamaged(descriptor)) {
    const kind = descriptor.isOlder ? "session_quarantined" : "descriptor_damaged";
    return [released({ seen, daemon }, kind, descriptor.damaged)];
  }
  if (record === null && descriptor !== null)
    return [released({ seen, daemon }, "session_quarantined", "it has a worker record but no session record")];
  if (row?.state === "quarantined")
    return [released({ seen, daemon }, "session_quarantined", row.reason ?? "it is not said why")];
  if (record !== null || intents.length === 0) return [];
  return [
    repairable(
      { kind: "intent_unfinished", subject, reason: `there is no such session; ${intents.join(", ")}` },
      { repair: "move it to damaged/ in the home", action: { by: "command", what: "move_aside", paths: intents } },
    ),
  ];
}

interface Inert {
  readonly seen: SeenSession;
  readonly daemon: Daemon;
}

function released({ seen, daemon }: Inert, kind: "descriptor_damaged" | "session_quarantined", why: string): Finding {
  const { sessionId: subject } = seen;
  const what = { kind, subject, reason: andLife(why, seen) };
  if (seen.life.kind === "alive") return told(what, endIt(daemon, seen));
  return repairable(what, {
    repair: "keep its worker record beside, as evidence, and let the session rest, stopped, until a person resumes it",
    needs: goneWords(seen),
    action: { by: "daemon", repair: "release_quarantine", subject },
  });
}

const waiting = ["starting", "recovering", "stopping"];

function workerFindings(seen: SeenSession): Finding[] {
  const { sessionId: subject, row } = seen;
  const found = readable(seen);
  if (found === null || found.verdict.kind !== "unknown" || found.descriptor.lifecycle === "failed") return [];
  if (row !== null && !waiting.includes(row.state)) return [];
  const { pid } = found.descriptor.process.identity;
  const reason = `process ${pid} cannot be observed (${found.verdict.why})`;
  const what = { kind: "worker_unknown", subject, reason } as const;
  if (found.held)
    return [
      told(
        { ...what, reason: `${reason}, and its lifeline is held` },
        "end it where it runs; the session goes on then",
      ),
    ];
  return [
    repairable(what, {
      repair: "take it for gone: its session goes on as after any worker's end; nothing is sent to that process",
      needs: ["gone"],
      action: { by: "daemon", repair: "assert_gone", subject },
    }),
  ];
}

function stopFindings(seen: SeenSession, now: number): Finding[] {
  const found = readable(seen);
  const stop = found?.descriptor.stop;
  if (!stop || (seen.row !== null && seen.row.state !== "stopping")) return [];
  const elapsed = now - Date.parse(stop.requestedAt);
  if (!(elapsed >= DEGRADED_MS)) return [];
  const reason = `its ${stop.goal} was asked for ${Math.floor(elapsed / 60_000)} minutes ago; its process is ${found?.verdict.kind}`;
  return [
    told(
      { kind: "stop_degraded", subject: seen.sessionId, reason },
      "it goes on by itself; agent stop --force presses it",
    ),
  ];
}

/** A disk that takes nothing is waited for; a file that took nothing is not written to again by the same worker. */
const takesAgain = (reason: string, subject: string): string =>
  reason === "disk_full" || reason.startsWith(UNWRITTEN)
    ? "it goes on by itself once the disk takes it"
    : reopen(subject);

function failureFindings({ sessionId: subject, record, descriptor, row, journal, transcript }: SeenSession): Finding[] {
  if (record?.kind !== "record") return [];
  const { failure: kept, secretNames } = record.record;
  if (row?.state === "ready" && row.reason !== null)
    return [told({ kind: "session_degraded", subject, reason: row.reason }, takesAgain(row.reason, subject))];
  const recorded = descriptor !== null && "descriptor" in descriptor ? descriptor.descriptor : null;
  const failure = kept ?? (recorded?.lifecycle === "failed" ? recorded : null);
  const isFailed = row === null ? failure !== null : row.state === "failed";
  if (!isFailed) return [];
  const names = failure?.code === "needs_fresh_environment" ? secretNames : [];
  const reason = row?.reason ?? failure?.reason ?? "its reason was not recorded";
  const resume = ["agent session resume", subject, ...names.map((name) => `--env ${name}`)].join(" ");
  const isServable = journal.kind === "fresh" || (journal.kind === "ok" && journal.quarantines.length === 0);
  const first = isServable ? (transcript?.kind === "unreadable" ? "transcript" : null) : "journal";
  const next = first === null ? resume : `first what is told of its ${first}, then ${resume}`;
  return [told({ kind: "session_failed", subject, reason }, next)];
}

/** While a worker lives, what is begun is merely running. */
function doubtFindings(seen: SeenSession): Finding[] {
  const { sessionId: subject, journal, row } = seen;
  const found = readable(seen);
  const mayRun = found !== null && (found.verdict.kind === "current" || found.verdict.kind === "unknown");
  if (mayRun || row?.state === "ready" || row?.state === "starting" || journal.kind !== "ok") return [];
  const begun = journal.open.filter(({ notes }) => notes.some(({ phase }) => phase === "dispatched"));
  if (begun.length === 0) return [];
  const reason = `begun when its worker ended: ${begun.map(({ kind, operationId }) => `${kind} ${operationId}`).join(", ")}`;
  return [
    told({ kind: "in_doubt", subject, reason }, "it is marked interrupted at the next start; look at what it did"),
  ];
}

/** What may not be read is not damaged either. */
const nextOf = ({ message, path }: { message: string; path: string }, subject: string): string =>
  /\b(?:EACCES|EPERM)\b/.test(message)
    ? `make it readable for this user: then agent session resume ${subject} brings the session back`
    : `agent journal show ${path}`;

const resting = ["failed", "passivated", "stopped"];

function journalFindings(seen: SeenSession): Finding[] {
  const { sessionId: subject, journal, row, life } = seen;
  const found = readable(seen);
  const rests = row === null ? found === null || found.descriptor.lifecycle === "failed" : resting.includes(row.state);
  const isUsable = rests && life.kind !== "alive";
  const needs: readonly Assertion[] = ["loss", ...goneWords(seen)];
  if (journal.kind === "refused") {
    const at = journal.offset === null ? "" : ` at byte ${journal.offset}`;
    const reason = `${journal.path}${at}: ${journal.message}`;
    if (journal.why !== "corrupt" && journal.why !== "oversize")
      return [told({ kind: "journal_unreadable", subject, reason }, nextOf(journal, subject))];
    const what = { kind: "journal_damaged", subject, reason } as const;
    if (!isUsable) return [told(what, `agent session stop ${subject}, then look again`)];
    const repair = "put it aside with all its bytes; the session stays failed until that is resolved, too";
    return [repairable(what, { repair, needs, action: { by: "daemon", repair: "quarantine_journal", subject } })];
  }
  if (journal.kind !== "ok" || journal.quarantines.length === 0) return [];
  const reason = journal.quarantines
    .map(
      ({ id, why, evidence, reason: words }) =>
        `${id} (${why}${evidence === null ? "" : `, kept as ${evidence}`}): ${words}`,
    )
    .join("; ");
  const what = { kind: "journal_quarantined", subject, reason } as const;
  if (!isUsable) return [told(what, `agent session stop ${subject}, then look again`)];
  const repair = "accept as lost what it held, accepted work and answered requests; then the session can be resumed";
  return [repairable(what, { repair, needs, action: { by: "daemon", repair: "resolve_journal", subject } })];
}
