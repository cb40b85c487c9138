import type { JournalReport, JournalView, LegacySession, SegmentLine } from "@holdfast/recovery-journal";
import { type JournalLists, timeOf } from "./journal-json.ts";
import { type Column, printable, table, type TableStyle } from "./table.ts";

type Found = Exclude<JournalView, { kind: "missing" }>;
type Refused = Extract<JournalReport, { kind: "refused" }>;
type Whole = Extract<JournalReport, { kind: "ok" }>;
type Fact = readonly [name: string, value: string | number];

/** One line: the verdict, then why and where. Off a terminal its parts stand between tabs. */
export function verdictText(path: string, { report }: Found, isTTY: boolean): string {
  const parts = report.kind === "refused" ? refusalParts(report) : [verdictOf(report), path, ...remarks(report)];
  return parts.map(printable).join(isTTY ? ": " : "\t");
}

function verdictOf(report: Exclude<Found["report"], Refused>): string {
  if (report.kind === "fresh") return "fresh";
  return report.kind === "ok" && report.quarantines.length > 0 ? "quarantined" : "ok";
}

function refusalParts({ why, path, offset, message }: Refused): string[] {
  return ["refused", why, path, ...(offset === null ? [] : [`byte ${offset}`]), message];
}

function remarks(report: Exclude<Found["report"], Refused>): string[] {
  if (report.kind === "ok") {
    const torn = `the last batch is torn (${report.tornBytes} bytes), it was never acknowledged`;
    const damaged = report.quarantines.map(
      ({ why, evidence, reason }) => `what was before is not known: ${why}, ${evidence ?? "no file"} (${reason})`,
    );
    return [...damaged, ...(report.tornBytes > 0 ? [torn] : [])];
  }
  if (report.kind === "legacy" && report.uncertainTail) return ["the last line is cut off"];
  return [];
}

/** What is known of the whole, then the lists: with headings on a terminal, else each row under its kind. */
export function journalText(view: Found, lists: JournalLists, style: TableStyle): string {
  const { report } = view;
  const facts: Fact[] =
    report.kind === "refused" ? refusalFacts(report) : [["verdict", verdictOf(report)], ...remarksAsFacts(report)];
  const tables: string[] = [];
  if (view.kind === "journal" && report.kind === "ok") {
    facts.push(...wholeFacts(report, view.segment));
    tables.push(listOf("operation", report.open, operationColumns, style));
    if (lists.requests) tables.push(listOf("request", report.remembered, requestColumns, style));
  }
  if (report.kind === "legacy") {
    facts.push(["sessions", report.sessions.length], ["open", report.open.length]);
    tables.push(listOf("session", report.sessions, sessionColumns, style));
    tables.push(listOf("open", report.open, legacyColumns, style));
  }
  if (view.kind === "journal" && lists.records) {
    tables.push(listOf("line", view.segment?.lines ?? [], lineColumns, style));
  }
  const gap = style.columns === null ? "\n" : "\n\n";
  return [factsText(facts, style), ...tables.filter((text) => text !== "")].join(gap);
}

function refusalFacts({ why, path, offset, message }: Refused): Fact[] {
  const place: Fact[] = offset === null ? [] : [["byte", offset]];
  return [["verdict", "refused"], ["reason", why], ["file", path], ...place, ["message", message]];
}

const remarksAsFacts = (report: Exclude<Found["report"], Refused>): Fact[] =>
  remarks(report).map((text): Fact => ["remark", text]);

function wholeFacts(report: Whole, segment: Extract<Found, { kind: "journal" }>["segment"]): Fact[] {
  return [
    ["segment", report.segment],
    ...(segment === null ? [] : ([["file", segment.path]] satisfies Fact[])),
    ...(segment?.capacity ? ([["capacity", `${segment.capacity} bytes`]] satisfies Fact[]) : []),
    ["generation", report.owner.generation],
    ["owner", JSON.stringify(report.owner.identity)],
    ["released", report.released ? "yes" : "no"],
    ["open", report.open.length],
    ["requests", report.remembered.length],
  ];
}

function factsText(facts: readonly Fact[], { columns }: TableStyle): string {
  const line = ([name, value]: Fact): string =>
    `${columns === null ? `${name}\t` : name.padEnd(12)}${printable(String(value))}`;
  return facts.map(line).join("\n");
}

function listOf<Row>(kind: string, rows: readonly Row[], columns: readonly Column<Row>[], style: TableStyle): string {
  if (rows.length === 0) return "";
  const marked = style.columns === null ? [{ title: "", text: () => kind }, ...columns] : columns;
  return table(rows, marked, style);
}

const operationColumns: readonly Column<Whole["open"][number]>[] = [
  { title: "KIND", text: ({ kind }) => kind },
  { title: "OPERATION", text: ({ operationId }) => operationId, shrinks: true },
  { title: "GENERATION", text: ({ generation }) => generation, shrinks: true },
  { title: "NOTES", text: ({ notes }) => String(notes.length) },
];

const requestColumns: readonly Column<Whole["remembered"][number]>[] = [
  { title: "REQUEST", text: ({ requestId }) => requestId, shrinks: true },
  { title: "AT", text: ({ at }) => timeOf(at) },
  { title: "OUTCOME", text: ({ outcome }) => (outcome === null ? "-" : JSON.stringify(outcome)), shrinks: true },
];

const sessionColumns: readonly Column<LegacySession>[] = [
  { title: "ACTIVE", text: ({ activeSessionId }) => activeSessionId, shrinks: true },
  { title: "SESSION", text: ({ sessionId }) => sessionId, shrinks: true },
  { title: "STATE", text: ({ busy }) => (busy ? "busy" : "idle") },
  { title: "LAST", text: ({ operation }) => operation },
  { title: "RECORDED", text: ({ recordedAt }) => String(recordedAt) },
];

const legacyColumns: readonly Column<Extract<Found["report"], { kind: "legacy" }>["open"][number]>[] = [
  { title: "OPEN IN", text: ({ activeSessionId }) => activeSessionId, shrinks: true },
  { title: "OPERATION", text: ({ operationId }) => operationId ?? "-", shrinks: true },
  { title: "GENERATION", text: ({ generation }) => generation ?? "-", shrinks: true },
  { title: "LAST", text: ({ operation }) => operation },
];

const lineColumns: readonly Column<SegmentLine>[] = [
  { title: "OFFSET", text: ({ offset }) => String(offset) },
  { title: "BYTES", text: ({ bytes }) => String(bytes) },
  { title: "SEQUENCE", text: ({ fields }) => plain(fields?.["s"]) },
  { title: "DURABLE", text: ({ fields }) => plain(fields?.["d"]) },
  { title: "TYPE", text: ({ fields }) => (fields === null ? "bad" : plain(fields["t"])), colour: lineColour },
  { title: "CONTENT", text: contentOf, shrinks: true },
];

const plain = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? "-"));

function lineColour({ fields }: SegmentLine): "red" | null {
  return fields === null ? "red" : null;
}

function contentOf({ fields }: SegmentLine): string {
  const { s: _sequence, d: _durable, t: _type, ...content } = fields ?? {};
  return Object.keys(content).length === 0 ? "-" : JSON.stringify(content);
}
