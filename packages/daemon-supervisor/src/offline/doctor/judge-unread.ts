import { told } from "./finding.ts";
import type { Finding, SeenSession } from "./seen.ts";
import { isDamaged, isServed } from "./served.ts";

/** Pure: records that say less than there is to say: one that a daemon has in memory, that may not be read, or can be read again. */
export const unreadFindings = (seen: SeenSession): Finding[] =>
  isServed(seen) ? heldFindings(seen) : [...deniedFindings(seen), ...mendedFindings(seen)];

/** While it lives, its records on disk are only what its successor will know. */
function heldFindings({ sessionId: subject, record, descriptor, denied, row }: SeenSession): Finding[] {
  const held = "; the daemon holds the session in memory and serves it";
  if (denied.length > 0)
    return [
      told(
        { kind: "not_seen", subject, reason: `${denied.join("; ")}${held}` },
        "make it readable before the daemon ends",
      ),
    ];
  const rename = `agent session rename ${subject} ${row?.name ?? "NAME"}`;
  const found: Finding[] = [];
  if (record?.kind === "unreadable")
    found.push(
      told({ kind: "session_unreadable", subject, reason: `${record.reason}${held}` }, `${rename} writes it anew`),
    );
  else if (record === null)
    found.push(
      told(
        { kind: "session_unreadable", subject, reason: `its folder is gone${held}` },
        `put its folder back, or make an empty one, sessions/${subject}: ${rename} writes its record anew`,
      ),
    );
  if (isDamaged(descriptor))
    found.push(
      told(
        { kind: "descriptor_damaged", subject, reason: `${descriptor.damaged}${held}` },
        `move workers/${subject}.json out of the home: the daemon writes at once what it needs of it`,
      ),
    );
  return found;
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
