import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makePrivate, unsafeBelow } from "./modes.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(`${tmpdir()}/hf-modes-`);
  mkdirSync(`${home}/workers`, { mode: 0o700 });
  for (const name of ["a", "b"]) writeFileSync(`${home}/workers/${name}`, "", { mode: 0o600 });
});
afterEach(() => rmSync(home, { recursive: true }));

it("finds nothing where all is private, and nothing where nothing is", () => {
  expect(unsafeBelow(home)).toEqual([]);
  expect(unsafeBelow(`${home}/nowhere`)).toEqual([]);
});

it("I152 tells what others may reach once for each directory, and takes only others' rights away", () => {
  const outside = `${home}-outside`;
  writeFileSync(outside, "");
  try {
    chmodSync(outside, 0o644);
    symlinkSync(outside, `${home}/workers/link`);
    chmodSync(`${home}/workers`, 0o755);
    chmodSync(`${home}/workers/b`, 0o644);
    const found = unsafeBelow(home);
    const paths = [`${home}/workers`, `${home}/workers/b`];
    expect(found).toEqual([{ folder: `${home}/workers`, reason: expect.stringContaining("others may enter"), paths }]);
    makePrivate([...paths, `${home}/workers/link`, `${home}/workers/gone`]);
    expect(paths.map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    expect(statSync(outside).mode & 0o777).toBe(0o644);
    expect(unsafeBelow(home)).toEqual([]);
  } finally {
    rmSync(outside);
  }
});

it("touches nothing that is not a directory where one has to be", () => {
  symlinkSync(`${home}/workers`, `${home}/link`);
  expect(unsafeBelow(`${home}/link`)).toEqual([{ folder: `${home}/link`, reason: expect.anything(), paths: [] }]);
});
