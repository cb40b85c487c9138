import { readFileSync } from "node:fs";
import {
  DAEMON_START_TIMEOUT_MS,
  LIST_PAGE,
  MAX_LINE_BYTES,
  MAX_QUEUED_TEXT_BYTES,
  PROTOCOL_VERSION,
  SCHEMA_REVISION,
  SILENT_DAEMON_NOTICE_MS,
  SILENT_DAEMON_TIMEOUT_MS,
  attachEndings,
  methods,
} from "../../packages/client/src/protocol/index.ts";
import { GENERATED, code, codes, fence, page, table } from "./markdown.ts";

const sources = new URL("../../packages/client/src/protocol/", import.meta.url);

/** One declaration of a source file, up to the line that closes it. */
function declaration(file: string, head: string): string {
  const text = readFileSync(new URL(file, sources), "utf8");
  const start = text.indexOf(head);
  const end = text.indexOf("\n}\n", start);
  if (start < 0 || end < 0) throw new Error(`${file} has no ${head}`);
  return fence("ts", text.slice(start, end + 2));
}

interface Parameters {
  readonly shape: Readonly<Record<string, { safeParse(value: unknown): { readonly success: boolean } }>>;
}

function parametersOf({ shape }: Parameters): string {
  const names = Object.entries(shape).map(([name, schema]) =>
    schema.safeParse(undefined).success ? `${name}?` : name,
  );
  return names.length > 0 ? codes(names) : "none";
}

function methodTable(): string {
  const rows = Object.entries(methods).map(([name, { mutating, summary, params }]) => [
    code(name),
    summary,
    mutating ? "yes" : "no",
    parametersOf(params),
  ]);
  return table(["method", "what", "mutating", "parameters"], rows);
}

const seconds = (milliseconds: number): string => `${milliseconds / 1_000} s`;
const mebibytes = (bytes: number): string => `${bytes / 1024 / 1024} MiB`;

const limitTable = (): string =>
  table(
    ["what", "value"],
    [
      ["one line on a socket", mebibytes(MAX_LINE_BYTES)],
      ["queued text of a session", mebibytes(MAX_QUEUED_TEXT_BYTES)],
      ["a page of a list, if no limit is given", `${LIST_PAGE} sessions`],
      ["a silent daemon: said after", seconds(SILENT_DAEMON_NOTICE_MS)],
      ["a silent daemon: given up after", seconds(SILENT_DAEMON_TIMEOUT_MS)],
      ["start of a daemon, until it answers", seconds(DAEMON_START_TIMEOUT_MS)],
    ],
  );

export const protocolPage = (): string =>
  page(
    "# The control protocol",
    GENERATED,
    `Protocol version ${PROTOCOL_VERSION}, schema revision ${SCHEMA_REVISION}. JSON-RPC 2.0 over the unix socket of the home, one object per line. The source is \`packages/client/src/protocol\`.`,
    "The daemon's first line on each connection is the notification `hello`. It comes only when the daemon is ready to serve. Clients find the socket through the highest valid `owner/<epoch>.json` of the home.",
    "## Methods",
    "A mutating method carries a `requestId` that the client chose; a repeat under it takes effect once. A parameter with `?` may be left out.",
    methodTable(),
    "## Results",
    declaration("methods.ts", "export interface MethodResults {"),
    "## Notifications",
    `After \`session/attach\` the events follow as notifications \`session/event\`. \`session/attach_ended\` closes the stream with one of ${codes(attachEndings)}.`,
    declaration("methods.ts", "export interface Hello {"),
    "## Events",
    "Each event has these fields and, besides `type`, those of its type. Readers tolerate types and fields they do not know.",
    declaration("events.ts", "export interface EventStamp {"),
    declaration("events.ts", "interface EventBodies {"),
    "## Rows",
    declaration("rows.ts", "export interface SessionRow {"),
    "## Limits",
    limitTable(),
  );
