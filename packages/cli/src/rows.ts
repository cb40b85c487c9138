import type { SessionDetails, SessionRow, SessionState, SessionTree } from "@holdfast/client/protocol";
import { directoryText, table } from "./table.ts";
import type { Colour, TableStyle } from "./table.ts";

const stateColours: Record<SessionState, Colour | null> = {
  starting: "yellow",
  ready: "green",
  recovering: "yellow",
  stopping: "yellow",
  failed: "red",
  passivated: "dim",
  quarantined: "red",
  stopped: "dim",
};

const stateColumn = { title: "STATE", text: stateText, colour: (row: SessionRow) => stateColours[row.state] ?? null };

export function sessionTable(rows: readonly SessionRow[], style: TableStyle): string {
  const columns = [
    { title: "SESSION", text: (row: SessionRow) => row.sessionId },
    { title: "NAME", text: (row: SessionRow) => row.name ?? "-", shrinks: true },
    { title: "AGENT", text: (row: SessionRow) => row.agent, shrinks: true },
    stateColumn,
    { title: "DIRECTORY", text: (row: SessionRow) => directoryText(row.cwd, style), shrinks: true },
  ];
  return table(rows, columns, style);
}

interface Branch extends SessionTree {
  readonly depth: number;
}

/** Children stand below their session, each generation further in. */
export function sessionTree(trees: readonly SessionTree[], style: TableStyle): string {
  const columns = [
    { title: "SESSION", text: (row: Branch) => "  ".repeat(row.depth) + labelOf(row) },
    stateColumn,
    { title: "AGENT", text: (row: Branch) => row.agent, shrinks: true },
    { title: "DIRECTORY", text: (row: Branch) => directoryText(row.cwd, style), shrinks: true },
  ];
  return table(branches(trees, 0), columns, style);
}

const branches = (trees: readonly SessionTree[], depth: number): Branch[] =>
  trees.flatMap((tree) => [{ ...tree, depth }, ...branches(tree.children, depth + 1)]);

function stateText({ state, activity, lifecycle }: SessionRow): string {
  if (lifecycle === "archived") return "archived";
  return state === "ready" && activity !== "idle" ? activity : state;
}

/** What to call it in a message: the name people gave, else the id. */
export const labelOf = ({ name, sessionId }: SessionRow): string => name ?? sessionId;

export const rowLine = (row: SessionRow): string => {
  const reason = row.reason ? ` (${row.reason})` : "";
  return `${row.sessionId}${row.name ? ` ${row.name}` : ""}: ${stateText(row)}${reason}`;
};

export function detailsText(details: SessionDetails): string {
  const { options, usage, inDoubt, origin, waitingFor, memoryBytes, ...row } = details;
  const lines = Object.entries(row).map(([key, value]) => `${key.padEnd(15)} ${plain(value)}`);
  lines.push(`${"memory".padEnd(15)} ${mebibytes(memoryBytes)}`);
  lines.push(`${"origin".padEnd(15)} ${origin.agent}${origin.agentSessionId ? ` ${origin.agentSessionId}` : ""}`);
  if (waitingFor) lines.push(`${"waiting for".padEnd(15)} ${waitingFor.title} (${waitingFor.kind})`);
  for (const option of options) lines.push(`${"option".padEnd(15)} ${option.id}=${plain(option.value)}`);
  for (const { title, since } of inDoubt) lines.push(`${"in doubt".padEnd(15)} ${title}, since ${since}`);
  if (usage) lines.push(`${"usage".padEnd(15)} ${JSON.stringify(usage)}`);
  return lines.join("\n");
}

export const mebibytes = (bytes: number | null): string =>
  bytes === null ? "-" : `${Math.round(bytes / 1_048_576)} MiB`;

const plain = (value: unknown): string =>
  value === null ? "-" : typeof value === "string" ? value : JSON.stringify(value);
