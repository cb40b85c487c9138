import { describe, expect, it } from "vitest";
import { environmentIn } from "./program-area.ts";

const area = (count: number, text: string): Buffer => {
  const head = Buffer.alloc(4);
  head.writeInt32LE(count);
  return Buffer.concat([head, Buffer.from(text, "latin1")]);
};

describe("environment of a program area", () => {
  it.each<[string, Buffer, string]>([
    ["after padding and arguments", area(2, "/bin/node\0\0\0node\0x\0A=1\0B=2\0\0stack_guard=1\0"), "\0A=1\0B=2\0"],
    ["without anything after it", area(1, "/bin/node\0\0node\0A=1\0"), "\0A=1\0\0"],
    ["cut off in an entry", area(1, "/bin/node\0node\0A=1\0B="), "\0A=1\0B=\0"],
    ["that is empty", area(1, "/bin/node\0node\0\0stack_guard=1\0"), "\0\0"],
    ["with empty arguments", area(3, "/bin/node\0node\0\0\0A=1\0\0"), "\0A=1\0"],
    ["with more arguments than there are", area(9, "/bin/node\0node\0A=1\0"), "\0\0"],
    ["of nothing", Buffer.alloc(0), "\0"],
    ["without an end of the path", area(1, "/bin/node"), "\0\0"],
  ])("%s", (_title, bytes, entries) => {
    expect(environmentIn(bytes)).toBe(entries);
  });

  it("never takes an argument for an entry, even after an empty first one", () => {
    const entries = environmentIn(area(2, "/bin/node\0\0\0\0A=argument\0A=1\0B=2\0\0"));
    expect(entries).not.toContain("argument");
  });
});
