import { expect, it } from "vitest";
import { unwritableIn } from "./unwritable.ts";

const access = (errnos: Readonly<Record<string, string>>) => (folder: string) => {
  const code = errnos[folder];
  if (code !== undefined) throw Object.assign(new Error(`${code}: refused, access '${folder}'`), { code });
};

it("names each folder in which nothing can be made, and why", () => {
  const found = unwritableIn("/h", access({ "/h": "EROFS", "/h/workers": "EACCES", "/h/journal": "EPERM" }));
  expect(found).toEqual([
    { folder: "/h", errno: "EROFS", reason: "EROFS: refused, access '/h'" },
    { folder: "/h/workers", errno: "EACCES", reason: "EACCES: refused, access '/h/workers'" },
    { folder: "/h/journal", errno: "EPERM", reason: "EPERM: refused, access '/h/journal'" },
  ]);
});

it("says nothing of a folder that is not there, or is none", () => {
  expect(unwritableIn("/h", access({ "/h": "ENOENT", "/h/run": "ENOTDIR" }))).toEqual([]);
});
