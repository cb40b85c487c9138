import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { afterEach, beforeEach, expect, it } from "vitest";
import { lookAt } from "./look.ts";

const ID = "01a2aaaa-0000-7000-8000-000000000001";
let home: string;
beforeEach(() => {
  home = mkdtempSync(`${tmpdir()}/hf-look-`);
  for (const folder of ["workers", "sessions", `sessions/${ID}`]) mkdirSync(`${home}/${folder}`, { mode: 0o700 });
  writeFileSync(`${home}/workers/${ID}.json`, "damage", { mode: 0o600 });
});
afterEach(() => rmSync(home, { recursive: true }));

/** The user who runs the tests may read everything. */
function denying(denied: string): FileSystem {
  const refuse = (path: string): void => {
    if (path === denied) throw Object.assign(new Error(`EACCES: permission denied, '${path}'`), { code: "EACCES" });
  };
  return {
    ...nodeFileSystem,
    readdir: (path) => {
      refuse(path);
      return nodeFileSystem.readdir(path);
    },
    open: (path, flags, mode) => {
      refuse(path);
      return nodeFileSystem.open(path, flags, mode);
    },
  };
}

it.each(["workers", "sessions"])("I117 of a home whose %s cannot be listed no session is judged", async (folder) => {
  const path = `${home}/${folder}`;
  const { sessions, unseen } = await lookAt(home, denying(path));
  expect(sessions).toEqual([]);
  expect(unseen).toEqual([{ subject: path, reason: expect.stringContaining("EACCES"), denied: true }]);
});

it("tells a record that may not be read from one that is damaged", async () => {
  const path = `${home}/sessions/${ID}/session.json`;
  writeFileSync(path, "damage", { mode: 0o600 });
  expect((await lookAt(home)).sessions).toMatchObject([{ record: { kind: "unreadable" }, denied: [] }]);
  expect((await lookAt(home, denying(path))).sessions).toMatchObject([{ denied: [`${path}: EACCES`] }]);
  const descriptor = `${home}/workers/${ID}.json`;
  expect((await lookAt(home, denying(descriptor))).sessions).toMatchObject([{ denied: [`${descriptor}: EACCES`] }]);
});

const line = (sequence: number): string =>
  `${JSON.stringify({ cursor: `00000000-0000-4000-8000-000000000001:${sequence}`, type: "output", text: "x".repeat(900) })}\n`;

it("tells what is in a transcript's place, and a line that says nothing wherever near its ends it is", async () => {
  const path = `${home}/sessions/${ID}/transcript.jsonl`;
  const look = async () => (await lookAt(home)).sessions[0]?.transcript;
  expect(await look()).toEqual({ kind: "missing" });
  mkdirSync(path, { mode: 0o700 });
  expect(await look()).toEqual({ kind: "unreadable", why: `${path} cannot be read: EISDIR` });
  rmSync(path, { recursive: true });
  const lines = Array.from({ length: 300 }, (_, index) => line(index + 1));
  const write = (at: number | null): void =>
    writeFileSync(path, lines.map((text, index) => (index === at ? "garbage\n" : text)).join(""), { mode: 0o600 });
  write(null);
  expect(await look()).toBeNull();
  for (const at of [0, 3, 299]) {
    write(at);
    const offset = lines.slice(0, at).join("").length;
    expect(await look()).toEqual({ kind: "damaged", offset });
  }
});
