import type { JournalReport, JournalView, SegmentLine } from "@holdfast/recovery-journal";

type Found = Exclude<JournalView, { kind: "missing" }>;
type Whole = Extract<JournalReport, { kind: "ok" }>;

/** Which of the long lists are asked for. */
export interface JournalLists {
  readonly requests: boolean;
  readonly records: boolean;
}

/** The answer of `journal verify --json` but the path. */
export function verdictJson({ kind, report }: Found): object {
  switch (report.kind) {
    case "refused": {
      const { why, path: file, offset, message } = report;
      return { kind, verdict: "refused", reason: why.replaceAll("-", "_"), file, offset, message };
    }
    case "fresh":
      return { kind, verdict: "fresh" };
    case "ok":
      return {
        kind,
        verdict: report.quarantines.length === 0 ? "ok" : "quarantined",
        released: report.released,
        tornBytes: report.tornBytes,
        quarantines: report.quarantines.map(({ at, ...quarantine }) => ({ ...quarantine, at: timeOf(at) })),
      };
    case "legacy":
      return { kind, verdict: "ok", uncertainTail: report.uncertainTail };
  }
}

/** The answer of `journal show --json` but the path. */
export function journalJson(view: Found, lists: JournalLists): object {
  const verdict = verdictJson(view);
  if (view.kind === "legacy") {
    const { report } = view;
    return report.kind === "refused" ? verdict : { ...verdict, sessions: report.sessions, open: report.open };
  }
  const { report, segment } = view;
  return {
    ...verdict,
    ...(report.kind === "ok" ? stateJson(report, segment, lists) : {}),
    ...(lists.records ? { records: (segment?.lines ?? []).map(recordJson) } : {}),
  };
}

type Segment = Extract<JournalView, { kind: "journal" }>["segment"];

function stateJson(report: Whole, segment: Segment, { requests }: JournalLists): object {
  return {
    segment: { number: report.segment, file: segment?.path ?? null, capacityBytes: segment?.capacity ?? null },
    owner: report.owner,
    open: report.open.map(({ operationId, generation, kind, sequence, notes }) => {
      return { operationId, generation, kind, sequence, noteCount: notes.length };
    }),
    requestCount: report.remembered.length,
    ...(requests ? { requests: report.remembered.map(({ at, ...request }) => ({ ...request, at: timeOf(at) })) } : {}),
  };
}

/** A line by its place; `record` is `null` where its checksum is wrong. */
function recordJson({ offset, bytes, fields }: SegmentLine): object {
  if (fields === null) return { offset, bytes, sequence: null, durable: null, record: null };
  const { s: sequence = null, d: durable = null, ...record } = fields;
  return { offset, bytes, sequence, durable, record };
}

/** Milliseconds since the epoch as RFC 3339; a journal may say a number that is no time. */
export function timeOf(ms: number): string {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? String(ms) : time.toISOString();
}
