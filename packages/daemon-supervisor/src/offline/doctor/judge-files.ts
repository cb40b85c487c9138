import { told } from "./finding.ts";
import type { Finding, SeenSession } from "./seen.ts";

/** Pure: what happened to a session's files beside its records: taken away, replaced, overwritten. */
export const fileFindings = (seen: SeenSession): Finding[] => [...lostJournal(seen), ...transcriptFindings(seen)];

/** It has a worker, which made its files when it started and writes to them. */
const isServing = ({ row }: SeenSession): boolean => row !== null && row.state === "ready" && row.pid !== null;

/** What opens all of a session's files anew. */
export const reopen = (subject: string): string =>
  `agent session stop ${subject}, then agent session resume ${subject}`;

function lostJournal(seen: SeenSession): Finding[] {
  const { sessionId: subject, journal } = seen;
  if (journal.kind !== "fresh" || !isServing(seen)) return [];
  const reason = "its journal is gone: no prompt is accepted";
  return [
    told({ kind: "session_degraded", subject, reason }, `put sessions/${subject}/journal back, or ${reopen(subject)}`),
  ];
}

function transcriptFindings(seen: SeenSession): Finding[] {
  const { sessionId: subject, transcript } = seen;
  const what = (reason: string) => ({ kind: "transcript_damaged", subject, reason }) as const;
  switch (transcript?.kind) {
    case "unreadable": {
      const isDenied = /\b(?:EACCES|EPERM)$/.test(transcript.why);
      const mend = isDenied
        ? "make it readable for this user"
        : "move it away, and put the transcript back, if there is one";
      const after = isServing(seen) ? "" : `; then agent session resume ${subject} brings the session back`;
      return [told(what(transcript.why), `${mend}${after}`)];
    }
    case "damaged":
      return [
        told(
          what(`the line at byte ${transcript.offset} is damaged: what it said is lost`),
          "nothing has to be done: the session goes on, and what shows the transcript names the gap",
        ),
      ];
    case "missing":
      if (!isServing(seen)) return [];
      return [told(what("it was taken away"), "its worker writes all of it anew at the next prompt or attach")];
    case undefined:
      return [];
  }
}
