import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { FakeClock } from "@holdfast/shared-process/testing";
import { expect, it, onTestFinished } from "vitest";
import { takeTry } from "./successor-tries.ts";

function home() {
  const path = mkdtempSync(join(tmpdir(), "hf-tries-"));
  mkdirSync(join(path, "run"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  const clock = new FakeClock();
  const take = (fs: FileSystem = nodeFileSystem, bootId = "boot") => takeTry({ home: path, fs, clock, bootId });
  const names = (): string[] => readdirSync(join(path, "run")).toSorted();
  return { path, clock, take, names };
}

it("five tries in five minutes are all that the workers of a home have together", () => {
  const { clock, take } = home();
  for (let count = 1; count <= 5; count += 1) {
    expect(take()).toEqual({ kind: "taken", count });
    // Another worker's look.
    expect(take()).toEqual(count < 5 ? { kind: "wait" } : { kind: "spent" });
    clock.advance(5_000);
  }
  clock.advance(4 * 60_000);
  expect(take()).toEqual({ kind: "spent" });
  clock.advance(60_000);
  expect(take()).toMatchObject({ kind: "taken" });
});

it("of two workers that look at the same moment one gets the try", () => {
  const { take, names } = home();
  let quick: ReturnType<typeof take> | null = null;
  const overtaken: FileSystem = {
    ...nodeFileSystem,
    readdir: (path) => {
      const seen = nodeFileSystem.readdir(path);
      quick ??= take();
      return seen;
    },
  };
  expect([take(overtaken), quick]).toEqual([{ kind: "wait" }, { kind: "taken", count: 1 }]);
  expect(names()).toEqual(["successor-1"]);
});

it("numbers only grow, and what is over is removed", () => {
  const { clock, take, names } = home();
  for (let round = 0; round < 3; round += 1) {
    take();
    clock.advance(5_000);
  }
  clock.advance(6 * 60_000);
  take();
  expect(names()).toEqual(["successor-4"]);
});

it("times of another boot and damaged ones do not count, their numbers do", () => {
  const { path, take, names } = home();
  expect(take(nodeFileSystem, "earlier").kind).toBe("taken");
  writeFileSync(join(path, "run", "successor-7"), "");
  expect(take()).toEqual({ kind: "taken", count: 1 });
  expect(names()).toEqual(["successor-8"]);
});

it("what cannot be counted is not done", () => {
  const { path, take } = home();
  rmSync(join(path, "run"), { recursive: true });
  expect(() => take()).toThrow("ENOENT");
});
