import { beginning, textWidth } from "./text-width.ts";

/** One column: its heading, and how a row is shown in it. */
export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  /** May be cut when the table is too wide; others keep their width. */
  readonly shrinks?: boolean;
  readonly colour?: (row: Row) => Colour | null;
}

export type Colour = "red" | "green" | "yellow" | "dim";
const codes: Record<Colour, string> = { red: "31", green: "32", yellow: "33", dim: "2" };

export interface TableStyle {
  /** `null` off a terminal: whole values between tabs, one line a row and no heading, for programs. */
  readonly columns: number | null;
  readonly colour: boolean;
  /** The user's own directory, written as `~`; `null` writes it out. */
  readonly userHome: string | null;
}

const GAP = "  ";
const SHORTEST = 6;

export function styleOf(output: { isTTY: boolean; columns: number }, env: NodeJS.ProcessEnv): TableStyle {
  if (!output.isTTY) return { columns: null, colour: false, userHome: null };
  return { columns: output.columns, colour: !env["NO_COLOR"], userHome: env["HOME"] || null };
}

/** Lines without a trailing newline, at most `columns` wide where the shrinking columns allow it. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], style: TableStyle): string {
  const cells = rows.map((row) => columns.map(({ text }) => printable(text(row))));
  if (style.columns === null) return cells.map((row) => row.join("\t")).join("\n");
  const widths = fit(
    columns.map(({ title }, index) => Math.max(title.length, ...cells.map((row) => textWidth(row[index] ?? "")))),
    columns,
    style.columns,
  );
  const line = (texts: readonly string[], paint: (text: string, index: number) => string): string =>
    texts
      .map((text, index) => paint(pad(cut(text, widths[index] ?? 0), widths[index] ?? 0), index))
      .join(GAP)
      .replace(/ +$/, "");
  const head = line(
    columns.map(({ title }) => title),
    (text) => (style.colour ? coloured(text, "dim") : text),
  );
  const body = rows.map((row, at) =>
    line(cells[at] ?? [], (text, index) => {
      const colour = style.colour ? columns[index]?.colour?.(row) : null;
      return colour ? coloured(text, colour) : text;
    }),
  );
  return [head, ...body].join("\n");
}

function fit<Row>(natural: number[], columns: readonly Column<Row>[], total: number): number[] {
  const widths = [...natural];
  const excess = (): number => widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1)) - total;
  for (let over = excess(); over > 0; over = excess()) {
    const widest = columns.reduce(
      (best, { shrinks }, index) => (shrinks && (widths[index] ?? 0) > (widths[best] ?? 0) ? index : best),
      -1,
    );
    const width = widths[widest] ?? 0;
    if (width <= SHORTEST) return widths;
    widths[widest] = width - 1;
  }
  return widths;
}

/** A directory as people write it. */
export function directoryText(directory: string, { userHome }: TableStyle): string {
  if (userHome === null || userHome === "/") return directory;
  return directory === userHome || directory.startsWith(`${userHome}/`)
    ? `~${directory.slice(userHome.length)}`
    : directory;
}

const coloured = (text: string, colour: Colour): string => `\u001b[${codes[colour]}m${text}\u001b[0m`;
const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - textWidth(text)));
const cut = (text: string, width: number): string =>
  textWidth(text) <= width ? text : `${beginning(text, Math.max(0, width - 1))}…`;
/** Names and paths come from elsewhere: nothing in them may move the cursor, turn the direction of what follows, or be unseen. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "?");
