import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { createLifeline, holdLifeline } from "@holdfast/shared-process";
import { expect, it, onTestFinished } from "vitest";
import { readWorkerFiles } from "./descriptor-files.ts";
import { sweepRunFiles } from "./run-files.ts";

async function homeWith(...lifelines: readonly string[]): Promise<{ readonly home: string; readonly run: string }> {
  const home = mkdtempSync(join(tmpdir(), "hf-run-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const run = join(home, "run");
  for (const folder of [run, join(home, "workers")]) mkdirSync(folder);
  for (const name of lifelines) await createLifeline(join(run, name));
  return { home, run };
}

const sweep = (home: string): void =>
  sweepRunFiles(nodeFileSystem, home, { epoch: 12, files: readWorkerFiles(nodeFileSystem, home) });

it("I124 lifelines of claims and launches that nobody holds and no record names go, and what is held stays", async () => {
  const { home, run } = await homeWith("claim-1.alive", "owner-2.alive", "3-3.alive", "4-4.alive");
  const held = holdLifeline(join(run, "4-4.alive"));
  onTestFinished(() => held[Symbol.dispose]());
  sweep(home);
  expect(readdirSync(run)).toEqual(["4-4.alive"]);
});

it("I134 while a worker's record cannot be read the lifelines of workers stay: it may name one", async () => {
  const { home, run } = await homeWith("claim-1.alive", "3-3.alive");
  writeFileSync(join(home, "workers", "01a22c51-90e0-765d-8261-51118abd6090.json"), "garbage");
  sweep(home);
  expect(readdirSync(run)).toEqual(["3-3.alive"]);
});

it("I124 sockets of supervisors of earlier epochs go, and those of anybody else stay", async () => {
  const { home, run } = await homeWith();
  for (const name of ["d2.sock", "d11.sock", "d12.sock", "d13.sock", "dd.sock", "3-3.sock"])
    writeFileSync(join(run, name), "");
  sweep(home);
  expect(readdirSync(run).toSorted()).toEqual(["3-3.sock", "d12.sock", "d13.sock", "dd.sock"]);
});
