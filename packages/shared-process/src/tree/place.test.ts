import { closeSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { openPaths } from "./open-paths.ts";
import type { OpenPath } from "./open-paths.ts";
import { placeOf, sharesMounts } from "./place.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "place-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A file that this process has open, as another one would see that. */
function held(): () => OpenPath {
  mkdirSync(join(folder, "h"));
  const fd = openSync(join(folder, "h/file"), "w");
  onTestFinished(() => closeSync(fd));
  return () => {
    const seen = openPaths(process.pid);
    const found = seen.kind === "read" && seen.open.find((one) => one.fd === String(fd));
    if (!found) throw new Error("not seen");
    return found;
  };
}

it("I147 a file that is held is here by whatever name it has now, or had last", () => {
  const seen = held();
  expect(placeOf(process.pid, seen())).toBe("here");
  renameSync(join(folder, "h"), join(folder, "moved"));
  expect([placeOf(process.pid, seen()), seen().path]).toEqual(["here", join(folder, "moved/file")]);
  rmSync(join(folder, "moved/file"));
  expect([placeOf(process.pid, seen()), seen().path]).toEqual(["here", join(folder, "moved/file (deleted)")]);
  rmSync(folder, { recursive: true });
  expect(placeOf(process.pid, seen())).toBe("here");
});

it("I131 nothing is told of what has another name by now, nor of nobody", () => {
  const seen = held();
  const before = seen();
  renameSync(join(folder, "h"), join(folder, "moved"));
  writeFileSync(join(folder, "other"), "");
  expect(placeOf(process.pid, before)).toBe("unknown");
  expect(placeOf(process.pid, { ...before, path: join(folder, "other") })).toBe("unknown");
  expect(placeOf(2 ** 22, seen())).toBe("unknown");
  expect([sharesMounts(process.pid), sharesMounts(2 ** 22)]).toEqual([true, false]);
});
