import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { requireLinked } from "./koffi.ts";

it("a package behind a link is found as itself, also after a look at a pipe", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "linked-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["first", "second"]) {
    mkdirSync(join(folder, "store", name), { recursive: true });
    writeFileSync(join(folder, "store", name, "index.js"), "module.exports = __dirname;");
    symlinkSync(join(folder, "store", name), join(folder, "node_modules", name));
  }
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const from = join(folder, "program.js");
  // What leads there is known from then on, and not looked at again.
  expect(requireLinked(from, "first")).toBe(join(folder, "store/first"));
  expect(lstatSync(pipe).isFIFO()).toBe(true);
  expect(requireLinked(from, "second")).toBe(join(folder, "store/second"));
});
