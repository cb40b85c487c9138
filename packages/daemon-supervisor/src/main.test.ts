import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem, publishFile } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { ownerPath, topOwner } from "@holdfast/session-worker/transport";
import { expect, it, onTestFinished } from "vitest";
import { runSupervisor } from "./main.ts";
import { systemWorld } from "./world.ts";

const listeners = (): readonly number[] => ["SIGINT", "SIGTERM", "SIGHUP"].map((name) => process.listenerCount(name));

/** Another epoch takes the home as soon as this one, which has just claimed it, looks for the records of its workers. */
function overtaken(home: string): FileSystem {
  return {
    ...nodeFileSystem,
    readdir: (path) => {
      const top = topOwner(nodeFileSystem, home);
      if (path === `${home}/workers` && top.kind === "found" && top.epoch === 1) {
        const record = { ...top.record, epoch: 2 };
        publishFile(nodeFileSystem, ownerPath(home, 2), JSON.stringify(record));
      }
      return nodeFileSystem.readdir(path);
    },
  };
}

it("a supervisor that is overtaken before it serves leaves no handler of a signal behind", async () => {
  const home = join(mkdtempSync(join(tmpdir(), "overtaken-")), "home");
  const { title } = process;
  onTestFinished(() => {
    process.title = title;
    rmSync(join(home, ".."), { recursive: true });
  });
  const before = listeners();
  const options = { home, workerProgram: "/none", foreground: false };
  expect(await runSupervisor(options, { ...systemWorld(), fs: overtaken(home) })).toBe(0);
  expect(topOwner(nodeFileSystem, home)).toMatchObject({ epoch: 2 });
  expect(listeners()).toEqual(before);
});
