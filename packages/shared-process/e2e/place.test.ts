import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openPaths, type OwnedProcess, placeOf, sharesMounts } from "../src/index.ts";
import { atEnd, firstLine, start, temporaryDirectory } from "./harness.ts";

const HOLD = 'exec 3> "$0/file"; echo ready; sleep 600';

/** Where the file lies that a program holds, and the name that the kernel gives it. */
function heldBy({ identity: { pid } }: OwnedProcess): readonly [string, string] {
  const seen = openPaths(pid);
  const found = seen.kind === "read" && seen.open.find(({ fd }) => fd === "3");
  if (!found) throw new Error("not seen");
  return [placeOf(pid, found), found.path];
}

function madeFolder(): string {
  const folder = join(temporaryDirectory(), "h");
  mkdirSync(folder);
  return folder;
}

it("I131 I147 a file in another mount namespace is not the one of its name here, and once deleted nothing tells", async () => {
  const folder = madeFolder();
  const file = join(folder, "file");
  const mounted = `mount -t tmpfs tmpfs "$0" && ${HOLD}`;
  const holder = await start("unshare", ["--mount", "sh", "-c", mounted, folder]);
  expect(await firstLine(holder)).toBe("ready");
  expect(heldBy(holder)).toEqual(["unknown", file]);
  writeFileSync(file, "");
  expect(heldBy(holder)).toEqual(["elsewhere", file]);
  rmSync(`/proc/${holder.identity.pid}/root${file}`);
  expect(heldBy(holder)).toEqual(["unknown", `${file} (deleted)`]);
  expect(sharesMounts(holder.identity.pid)).toBe(false);
});

it("I147 a file of a folder that another namespace has as well is the one here", async () => {
  const folder = madeFolder();
  const holder = await start("unshare", ["--mount", "sh", "-c", HOLD, folder]);
  expect(await firstLine(holder)).toBe("ready");
  expect(heldBy(holder)).toEqual(["here", join(folder, "file")]);
});

it("I147 a file over whose folder something was mounted since is not the one of its name here, deleted or not", async () => {
  const folder = madeFolder();
  const file = join(folder, "file");
  const holder = await start("sh", ["-c", HOLD, folder]);
  expect(await firstLine(holder)).toBe("ready");
  const mount = (): void => void execFileSync("mount", ["-t", "tmpfs", "tmpfs", folder]);
  const unmount = (): void => void spawnSync("umount", [folder]);
  // Once more where the test failed in between.
  atEnd(unmount);
  mount();
  writeFileSync(file, "");
  expect(heldBy(holder)).toEqual(["elsewhere", file]);
  unmount();
  rmSync(file);
  expect(heldBy(holder)).toEqual(["here", `${file} (deleted)`]);
  mount();
  expect(heldBy(holder)).toEqual(["unknown", `${file} (deleted)`]);
  unmount();
});
