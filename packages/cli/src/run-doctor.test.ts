import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FakeIo } from "../test/fake-io.ts";
import { run } from "./run.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
  mkdirSync(join(home, "workers"), { mode: 0o755 });
  chmodSync(join(home, "workers"), 0o755);
});
afterEach(() => rmSync(home, { recursive: true }));

const isPrivate = (): boolean => (statSync(join(home, "workers")).mode & 0o077) === 0;
const doctor = (io: FakeIo, ...argv: readonly string[]): Promise<number> => run(["doctor", ...argv], io.at(home));

it("tells what is wrong, why, and what a repair would do, and changes nothing", async () => {
  const io = new FakeIo();
  expect(await doctor(io)).toBe(0);
  expect(io.stdout.text).toContain(`unsafe_mode\t${home}/workers\n  why:    others may enter it\n  repair: `);
  expect(isPrivate()).toBe(false);
});

it("--repair asks nobody where nobody can be asked, and says how to agree beforehand", async () => {
  const io = new FakeIo();
  expect(await doctor(io, "--repair")).toBe(2);
  expect(io.stderr.text).toContain("hint: agent doctor --repair --yes\n");
  expect(isPrivate()).toBe(false);
});

it.each([
  { line: "", done: false },
  { line: "n", done: false },
  { line: "y", done: true },
])("--repair asks on a terminal, and takes %j for an answer", async ({ line, done }) => {
  const io = new FakeIo({ terminal: true });
  io.line = Promise.resolve(line);
  expect(await doctor(io, "--repair")).toBe(0);
  expect(io.stderr.text).toContain("do it? [y/N]");
  expect(io.stdout.text).toContain(done ? "repaired unsafe_mode" : "kept unsafe_mode");
  expect(isPrivate()).toBe(done);
});

it("--json tells what was found and what was done", async () => {
  const io = new FakeIo();
  expect(await doctor(io, "--repair", "--yes", "--json")).toBe(0);
  const subject = join(home, "workers");
  expect(JSON.parse(io.stdout.text)).toMatchObject({
    schemaVersion: 1,
    problems: [{ kind: "unsafe_mode", subject, reason: expect.anything(), repair: expect.anything(), needs: [] }],
    repaired: [{ kind: "unsafe_mode", subject, done: expect.anything() }],
    kept: [],
    failed: [],
  });
  expect(isPrivate()).toBe(true);
});

it.each([[["--yes"]], [["--assert-gone", "x"]], [["--accept-loss", "x"]], [["--repair", "--assert-gone", "x"]]])(
  "%j is a mistake, and nothing is done",
  async (argv) => {
    expect(await doctor(new FakeIo(), ...argv)).toBe(2);
    expect(isPrivate()).toBe(false);
  },
);
