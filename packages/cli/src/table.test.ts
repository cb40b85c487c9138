import { describe, expect, it } from "vitest";
import { styleOf, table } from "./table.ts";
import type { Column } from "./table.ts";

interface Row {
  readonly id: string;
  readonly path: string;
}
const columns: Column<Row>[] = [
  { title: "ID", text: ({ id }) => id, colour: () => "red" },
  { title: "PATH", text: ({ path }) => path, shrinks: true },
];
const plain = { columns: 30, colour: false };

describe("a table", () => {
  it("aligns its columns and leaves no blanks at the end", () => {
    const text = table(
      [
        { id: "1", path: "/a" },
        { id: "22", path: "/bb" },
      ],
      columns,
      plain,
    );
    expect(text.split("\n")).toEqual(["ID  PATH", "1   /a", "22  /bb"]);
  });

  it("cuts only columns that may shrink", () => {
    const lines = table([{ id: "0123456789", path: "/very/long/path/indeed/really" }], columns, plain).split("\n");
    expect(lines[1]).toBe("0123456789  /very/long/path/i…");
    expect(lines[1]?.length).toBe(30);
  });

  it("shows nothing that could move the cursor", () => {
    expect(table([{ id: "\u001b[2J", path: "a\nb" }], columns, plain)).toContain("?[2J  a?b");
  });

  it("has colours only where asked, with widths unchanged", () => {
    const text = table([{ id: "1", path: "/a" }], columns, { ...plain, colour: true });
    expect(text.split("\n")[1]).toBe("\u001b[31m1 \u001b[0m  /a");
  });
});

describe("its style", () => {
  it("is 80 columns without colour off a terminal, and obeys NO_COLOR on one", () => {
    expect(styleOf({ isTTY: false, columns: 200 }, {})).toEqual({ columns: 80, colour: false });
    expect(styleOf({ isTTY: true, columns: 200 }, {})).toEqual({ columns: 200, colour: true });
    expect(styleOf({ isTTY: true, columns: 200 }, { NO_COLOR: "1" }).colour).toBe(false);
  });
});
