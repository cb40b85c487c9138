import type { TrustRow, TrustState } from "@holdfast/client/protocol";
import { directoryText, table } from "./table.ts";
import type { Colour, TableStyle } from "./table.ts";

const colours: Readonly<Record<TrustState, Colour>> = {
  trusted: "green",
  replaced: "red",
  missing: "yellow",
  unreadable: "yellow",
};

export function trustTable(rows: readonly TrustRow[], style: TableStyle): string {
  const columns = [
    { title: "STATE", text: ({ state }: TrustRow) => state, colour: ({ state }: TrustRow) => colours[state] },
    { title: "DIRECTORY", text: ({ directory }: TrustRow) => directoryText(directory, style), shrinks: true },
    { title: "ADDED", text: ({ addedAt }: TrustRow) => addedAt },
    { title: "VIA", text: ({ via }: TrustRow) => via ?? "-", shrinks: true },
  ];
  return table(rows, columns, style);
}
