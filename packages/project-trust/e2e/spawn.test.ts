import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { openSync, readdirSync, renameSync } from "node:fs";
import { execa } from "execa";
import { expect, it } from "vitest";
import { createProjectTrustAuthority } from "../src/index.ts";
import { granted, only } from "../src/authority.testing.ts";
import { Temporary } from "../src/temporary.testing.ts";
import { because, obstacle } from "./support/obstacle.ts";

it("I160 a program that is started in the directory is in the trusted one, whatever has its name by then", async () => {
  using temporary = new Temporary();
  temporary.file("trusted/genuine");
  temporary.file("other/foreign");
  using authority = createProjectTrustAuthority({ policy: [temporary.at("trusted")] });
  const binding = granted(authority.authorize(temporary.at("trusted")));
  const outcome = await authority.withBinding(binding, async (root) => {
    renameSync(temporary.at("trusted"), temporary.at("aside"));
    renameSync(temporary.at("other"), temporary.at("trusted"));
    const { stdout } = await execa("sh", ["-c", "ls; pwd -P"], { cwd: root.cwd });
    expect(stdout.split("\n")).toEqual(["genuine", temporary.at("aside")]);
  });
  expect(outcome).toMatchObject({ kind: "denied", reason: "replaced" });
});

const reason = obstacle("mkfifo");
it.skipIf(reason !== null)(
  `a FIFO and a device are refused at once, and who waits at them notices nothing${because(reason)}`,
  async () => {
    using temporary = new Temporary();
    const root = temporary.directory("root");
    execFileSync("mkfifo", [temporary.at("root", "fifo")]);
    execFileSync("mknod", [temporary.at("root", "null"), "c", "1", "3"]);
    using authority = createProjectTrustAuthority({ policy: [root] });
    const binding = granted(authority.authorize(root));
    // A writer waits in its open for a reader, and would go on with the first.
    const writer = execa("sh", ["-c", "echo ready; echo written > fifo; echo gone on"], { cwd: root, reject: false });
    await once(writer.stdout, "data");
    const outcome = await authority.withBinding(binding, (within) => [
      within.readFile("fifo"),
      within.readFile("null"),
    ]);
    expect(only(outcome, "done").value).toMatchObject([{ reason: "not_a_file" }, { reason: "not_a_file" }]);
    expect(readdirSync(root).toSorted()).toEqual(["fifo", "null"]);
    writer.kill();
    const { stdout } = await writer;
    expect(stdout).not.toContain("gone on");
    expect(() => openSync(temporary.at("root", "null"), "r")).not.toThrow();
  },
);
