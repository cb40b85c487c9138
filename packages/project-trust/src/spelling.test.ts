import { describe, expect, it } from "vitest";
import { lookAt } from "./pin.ts";
import { caseSwapped } from "./spelling.ts";
import { Temporary } from "./temporary.testing.ts";
import { folding, systemError, WatchedCalls } from "./watched-calls.testing.ts";

const verdict = (calls: WatchedCalls, directory: string): string => {
  const found = lookAt(calls, directory);
  expect(calls.descriptors.size).toBe(0);
  return found.kind === "denied" ? found.reason : found.kind;
};

describe("the spelling of a name", () => {
  it.each(["Work", "WORK", "wORK"])("I47 is the one that is listed where the disk folds case, not %s", (other) => {
    using temporary = new Temporary();
    temporary.directory("work");
    const calls = new WatchedCalls();
    calls.finds = folding("work");
    expect(verdict(calls, temporary.at("work"))).toBe("found");
    expect(verdict(calls, temporary.at(other))).toBe("alias");
  });

  it("I47 is the one that is listed where the disk folds normal forms, or has short names without letters", () => {
    using temporary = new Temporary();
    for (const [kept, other] of [
      ["caf\u00e9", "cafe\u0301"],
      ["1234567890", "123456~1"],
    ] as const) {
      temporary.directory(kept);
      const calls = new WatchedCalls();
      calls.finds = (path) => (path.endsWith(other) ? path.slice(0, -other.length) + kept : path);
      expect([verdict(calls, temporary.at(kept)), verdict(calls, temporary.at(other))]).toEqual(["found", "alias"]);
    }
  });

  it("I47 counts for each of two directories that differ in case alone", () => {
    using temporary = new Temporary();
    const calls = new WatchedCalls();
    for (const name of ["work", "Work", "wORK"]) expect(verdict(calls, temporary.directory(name))).toBe("found");
  });

  it("needs no list where the other case finds nothing", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("work");
    const calls = new WatchedCalls();
    const listed: string[] = [];
    calls.before = (call, path) => void (call === "names" && listed.push(path));
    expect([verdict(calls, directory), listed]).toEqual(["found", []]);
  });

  it("I47 is asked by its other case where the parent may be entered and not listed", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("work");
    const calls = new WatchedCalls();
    calls.before = (call) => {
      if (call === "names") throw systemError("EACCES");
    };
    expect(verdict(calls, directory)).toBe("found");
    expect(verdict(calls, temporary.directory("1"))).toBe("found");
    expect(verdict(calls, temporary.directory("é"))).toBe("found");
    temporary.directory("Work");
    temporary.directory("wORK");
    expect(verdict(calls, temporary.at("Work"))).toBe("found");
    calls.finds = folding("work");
    // Which of the two is listed nobody can tell: neither is taken.
    expect([verdict(calls, directory), verdict(calls, temporary.at("WORK"))]).toEqual(["alias", "alias"]);
  });

  it("swaps the case of each letter, whatever its length", () => {
    expect(["aB1", "straße", "é😀", "12"].map(caseSwapped)).toEqual(["Ab1", "STRASSE", "É😀", "12"]);
  });
});
