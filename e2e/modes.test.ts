import { chmodSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { errorCode } from "./support/rows.ts";

const modesBelow = (directory: string): string[] =>
  ["", ...readdirSync(directory, { recursive: true, encoding: "utf8" })].map((name) => {
    const stat = lstatSync(join(directory, name));
    return `${stat.isDirectory() ? "directory" : "other"} ${(stat.mode & 0o777).toString(8)}`;
  });

it("I152 under umask 000 directories are 0700, files, sockets and lifelines 0600", async () => {
  await using home = await Home.open();
  const made = await home.shell("umask 000; $AGENT new --name s --prompt 'echo hi'");
  expect(made).toMatchObject({ code: 0, stdout: "hi\n" });
  await home.newSession("t");
  await home.ok(["stop", "t"]);
  await home.kill(home.worker(await home.show("s")));
  await home.untilState("s", "ready");
  expect([...new Set(modesBelow(home.path))].toSorted()).toEqual(["directory 700", "other 600"]);
});

it("I152 a session keeps the umask of an ordinary process, not the home's", async () => {
  await using home = await Home.open();
  const { stdout } = await home.ok(["new", "--prompt", "umask"]);
  expect(["0022\n", "0002\n", "0077\n"]).toContain(stdout);
});

it("I152 a home that others may write is refused before anything is started", async () => {
  await using home = await Home.open();
  mkdirSync(home.path);
  chmodSync(home.path, 0o777);
  const refused = await home.agent(["session", "new", "--json"]);
  expect([refused.code, errorCode(refused.stderr)]).toEqual([7, "unsafe_directory"]);
  expect(home.processes()).toEqual([]);
  chmodSync(home.path, 0o700);
});
