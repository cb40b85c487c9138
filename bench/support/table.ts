import type { Row } from "./row.ts";

const HEAD = ["name", "value", "floor", "ratio", "target", ""] as const;

/** The rows as a Markdown table, aligned for a terminal too. */
export function tableOf(rows: readonly Row[]): string {
  const cells = [[...HEAD], ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) => `| ${line.map((cell, column) => padded(cell, column, widths)).join(" | ")} |`);
  lines.splice(1, 0, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`);
  const notes = rows.flatMap(({ name, note }) => (note === null ? [] : [`${name}: ${note}`]));
  return [...lines, ...(notes.length > 0 ? ["", ...notes] : [])].join("\n");
}

const cellsOf = ({ name, unit, value, floor, ratio, target, met }: Row): string[] => [
  name,
  `${rounded(value)} ${unit}`,
  floor === null ? "–" : `${rounded(floor)} ${unit}`,
  ratio === null ? "–" : `${rounded(ratio)} ×`,
  target ?? "–",
  met === null ? "" : met ? "met" : "missed",
];

const padded = (cell: string, column: number, widths: readonly number[]): string => {
  const width = widths[column] ?? 0;
  return column > 0 && column < 4 ? cell.padStart(width) : cell.padEnd(width);
};

/** Three significant digits, and no exponent. */
const rounded = (value: number): string =>
  value === 0 ? "0" : Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
