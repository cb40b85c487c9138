import { expect, it } from "vitest";
import { beginning, textWidth } from "./text-width.ts";

it.each([
  ["/home/me", 8],
  ["größe", 5],
  ["o\u0308", 1],
  ["日本語", 6],
  ["한글", 4],
  ["ｶﾅ", 2],
  ["Ａ", 2],
  ["🚀", 2],
  ["❤\ufe0f", 1],
  ["a\u200db", 2],
  ["", 0],
])("%j takes %i columns", (text, columns) => {
  expect(textWidth(text)).toBe(columns);
});

it("a beginning never takes more than there is, and splits no character from its marks", () => {
  expect([3, 4, 5].map((columns) => beginning("日本語", columns))).toEqual(["日", "日本", "日本"]);
  expect(beginning("o\u0308x", 1)).toBe("o\u0308");
  expect(beginning("a🚀b", 2)).toBe("a");
});
