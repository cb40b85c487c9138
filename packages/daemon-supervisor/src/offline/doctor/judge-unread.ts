import { reopen } from "./judge-files.ts";
import { told } from "./finding.ts";
import type { Finding, SeenSession } from "./seen.ts";
import { holdsRecord, isDamaged, isServed } from "./served.ts";

/** Pure: records that say less than there is to say: one that a daemon has in memory, that may not be read, or can be read again. */
export const unreadFindings = (seen: SeenSession): Finding[] =>
  isFolderGone(seen)
    ? goneFindings(seen)
    : isServed(seen)
      ? heldFindings(seen)
      : [...deniedFindings(seen), ...mendedFindings(seen)];

/** Only the daemon still knows it: nothing on disk names it. Of one that it runs, it has the record in memory. */
const isFolderGone = (seen: SeenSession): boolean =>
  seen.row !== null && seen.record === null && seen.descriptor === null && !holdsRecord(seen);

function goneFindings({ sessionId: subject, row }: SeenSession): Finding[] {
  const isQuarantined = row?.state === "quarantined";
  const forget = `${isQuarantined ? "agent daemon restart, which keeps the workers," : `agent session delete ${subject}`} forgets it`;
  return [
    told({ kind: "session_unreadable", subject, reason: "its folder is gone" }, `put its folder back; or ${forget}`),
  ];
}

const HELD = "; the daemon holds the session in memory and serves it";

/** While the daemon lives, what it holds of the session counts, and its records on disk are what its successor will know. */
const heldFindings = (seen: SeenSession): Finding[] => [
  ...heldUnread(seen),
  ...(holdsRecord(seen) ? heldRecord(seen) : []),
  ...heldDescriptor(seen),
];

function heldUnread(seen: SeenSession): Finding[] {
  const { sessionId: subject, denied } = seen;
  if (denied.length === 0) return [];
  const isHeld = holdsRecord(seen);
  const reason = `${denied.join("; ")}${isHeld ? HELD : ""}`;
  const until = isHeld ? "before the daemon ends" : "for this user: the daemon reads it at its next use";
  return [told({ kind: "not_seen", subject, reason }, `make it readable ${until}`)];
}

function heldRecord({ sessionId: subject, record, denied, row }: SeenSession): Finding[] {
  if (record?.kind === "record" || denied.length > 0) return [];
  const why = record === null ? "its folder is gone" : record.reason;
  const rename = `agent session rename ${subject} ${row?.name ?? "NAME"}`;
  const next =
    record === null
      ? `put its folder back, or make an empty one (mkdir -m 700 sessions/${subject}): ${rename} writes its record anew, ${reopen(subject)} the rest`
      : `${rename} writes it anew`;
  return [told({ kind: "session_unreadable", subject, reason: `${why}${HELD}` }, next)];
}

function heldDescriptor({ sessionId: subject, descriptor, denied }: SeenSession): Finding[] {
  if (!isDamaged(descriptor) || denied.length > 0) return [];
  const what = { kind: "descriptor_damaged", subject, reason: `${descriptor.damaged}${HELD}` } as const;
  return [told(what, `move workers/${subject}.json out of the home: the daemon writes at once what it needs of it`)];
}

/** What may not be read is not damaged: it is left where it is. */
function deniedFindings({ sessionId: subject, denied, row }: SeenSession): Finding[] {
  if (denied.length === 0) return [];
  const start = row === null ? "the next start of a daemon" : "agent daemon restart, which keeps the workers,";
  return [
    told(
      { kind: "not_seen", subject, reason: denied.join("; ") },
      `make it readable for this user: then ${start} brings the session back`,
    ),
  ];
}

/** Quarantined for what could not be read at the daemon's start, and can be read now: another start decides anew. */
function mendedFindings({ sessionId: subject, record, descriptor, row }: SeenSession): Finding[] {
  if (row?.state !== "quarantined" || record?.kind !== "record" || isDamaged(descriptor)) return [];
  if (!/^(?:session\.json|its descriptor) /.test(row.reason ?? "")) return [];
  const reason = `${row.reason}, at the start of the daemon; it can be read now`;
  return [
    told({ kind: "session_quarantined", subject, reason }, "agent daemon restart keeps the workers, and looks anew"),
  ];
}
