import { describe, expect, it } from "vitest";
import { directoryText, styleOf, table } from "./table.ts";
import type { Column } from "./table.ts";

interface Row {
  readonly id: string;
  readonly path: string;
}
const columns: Column<Row>[] = [
  { title: "ID", text: ({ id }) => id, colour: () => "red" },
  { title: "PATH", text: ({ path }) => path, shrinks: true },
];
const plain = { columns: 30, colour: false, userHome: null };

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

  it("aligns and cuts wide characters by the columns that they take", () => {
    const rows = [
      { id: "日本", path: `/${"語".repeat(20)}` },
      { id: "abc", path: "/x" },
    ];
    expect(table(rows, columns, { ...plain, columns: 20 }).split("\n")).toEqual([
      "ID    PATH",
      `日本  /${"語".repeat(6)}…`,
      "abc   /x",
    ]);
  });

  it("shows nothing that could move the cursor", () => {
    expect(table([{ id: "\u001b[2J", path: "a\nb" }], columns, plain)).toContain("?[2J  a?b");
  });

  it("has colours only where asked, with widths unchanged", () => {
    const text = table([{ id: "1", path: "/a" }], columns, { ...plain, colour: true });
    expect(text.split("\n")[1]).toBe("\u001b[31m1 \u001b[0m  /a");
  });
});

it("off a terminal is one line a row, uncut, between tabs and without a heading", () => {
  const path = `/${"long/".repeat(40)}`;
  const style = { columns: null, colour: false, userHome: null };
  expect(table([{ id: "1", path }], columns, style)).toBe(`1\t${path}`);
});

it("writes the user's directory as ~, and no other that begins like it", () => {
  const style = { ...plain, userHome: "/home/me" };
  expect(["/home/me", "/home/me/x", "/home/mean", "/"].map((path) => directoryText(path, style))).toEqual([
    "~",
    "~/x",
    "/home/mean",
    "/",
  ]);
});

describe("its style", () => {
  it("is whole values without colour off a terminal, and obeys NO_COLOR on one", () => {
    const env = { HOME: "/h" };
    expect(styleOf({ isTTY: false, columns: 200 }, env)).toEqual({ columns: null, colour: false, userHome: null });
    expect(styleOf({ isTTY: true, columns: 200 }, env)).toEqual({ columns: 200, colour: true, userHome: "/h" });
    expect(styleOf({ isTTY: true, columns: 200 }, { NO_COLOR: "1" }).colour).toBe(false);
  });
});
