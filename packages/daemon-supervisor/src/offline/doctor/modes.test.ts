import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makePrivate, misplacedIn, unsafeBelow } from "./modes.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(`${tmpdir()}/hf-modes-`);
  mkdirSync(`${home}/workers`, { mode: 0o700 });
  for (const name of ["a", "b"]) writeFileSync(`${home}/workers/${name}`, "", { mode: 0o600 });
});
const fail = (folder: string, error: unknown): never => {
  throw new Error(folder, { cause: error });
};
const unsafe = (folder: string) => unsafeBelow(folder, { unread: fail });
afterEach(() => rmSync(home, { recursive: true }));

it("finds nothing where all is private, and nothing where nothing is", () => {
  expect(unsafe(home)).toEqual([]);
  expect(unsafe(`${home}/nowhere`)).toEqual([]);
});

it("I152 tells what others may reach once for each directory, and takes only others' rights away", () => {
  const outside = `${home}-outside`;
  writeFileSync(outside, "");
  try {
    chmodSync(outside, 0o644);
    symlinkSync(outside, `${home}/workers/link`);
    chmodSync(`${home}/workers`, 0o755);
    chmodSync(`${home}/workers/b`, 0o644);
    const found = unsafe(home);
    const paths = [`${home}/workers`, `${home}/workers/b`];
    expect(found).toEqual([{ folder: `${home}/workers`, reason: expect.stringContaining("others may enter"), paths }]);
    makePrivate([...paths, `${home}/workers/link`, `${home}/workers/gone`]);
    expect(paths.map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    expect(statSync(outside).mode & 0o777).toBe(0o644);
    expect(unsafe(home)).toEqual([]);
  } finally {
    rmSync(outside);
  }
});

it("touches nothing that is not a directory where one has to be", () => {
  symlinkSync(`${home}/workers`, `${home}/link`);
  expect(unsafe(`${home}/link`)).toEqual([
    { folder: `${home}/link`, reason: expect.anything(), next: expect.anything() },
  ]);
});

it("I117 I142 a directory that cannot be looked into is said, and hides nothing of the others", () => {
  chmodSync(`${home}/workers`, 0o755);
  mkdirSync(`${home}/sessions`, { mode: 0o700 });
  const readdir = (folder: string): string[] => {
    if (folder === `${home}/sessions`) throw new Error("EACCES");
    return readdirSync(folder);
  };
  const said: string[] = [];
  const found = unsafeBelow(home, { readdir, unread: (folder) => void said.push(folder) });
  expect(found).toMatchObject([{ folder: `${home}/workers` }]);
  expect(said).toEqual([`${home}/sessions`]);
});

it("tells a home's folders in whose place something else is", () => {
  writeFileSync(`${home}/run`, "");
  symlinkSync(`${home}/workers`, `${home}/logs`);
  expect(misplacedIn(home)).toEqual([
    { folder: `${home}/run`, reason: "it is not a directory", next: expect.anything() },
    { folder: `${home}/logs`, reason: "it is a symbolic link", next: expect.anything() },
  ]);
});

it("tells what is in the place of the index of sessions, which every start does without", () => {
  mkdirSync(`${home}/sessions/index`, { recursive: true, mode: 0o700 });
  expect(misplacedIn(home)).toEqual([
    {
      folder: `${home}/sessions/index`,
      reason: "it is not a file",
      next: expect.stringContaining("makes the index anew"),
    },
  ]);
  rmSync(`${home}/sessions/index`, { recursive: true });
  writeFileSync(`${home}/sessions/index`, "", { mode: 0o600 });
  expect(misplacedIn(home)).toEqual([]);
});
