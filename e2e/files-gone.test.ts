import { existsSync, mkdirSync, rmSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { errorCode } from "./support/rows.ts";

const folderOf = (home: Home, sessionId: string): string => join(home.path, "sessions", sessionId);
const transcriptOf = (home: Home, sessionId: string): string => join(folderOf(home, sessionId), "transcript.jsonl");
const doctor = async (home: Home): Promise<string> => (await home.ok(["doctor"])).stdout;

it("I137 I154 a session whose transcript cannot be opened fails with its reason, can be stopped, and comes back", async () => {
  await using home = await Home.open();
  const { sessionId } = await home.newSession("s");
  await home.ok(["stop", "s"]);
  const path = transcriptOf(home, sessionId);
  rmSync(path);
  mkdirSync(path, { mode: 0o700 });
  expect(await doctor(home)).toMatch(/transcript_damaged[^]*move it away/);
  const refused = await home.agent(["session", "resume", "s", "--json"]);
  expect([refused.code, errorCode(refused.stderr)]).toEqual([6, "session_failed"]);
  const { reason } = await home.untilState("s", "failed");
  expect(reason).toMatch(/transcript\.jsonl.* agent doctor tells the way out/);
  await home.ok(["stop", "s"]);
  expect((await home.show("s")).state).toBe("stopped");
  for (const verb of ["transcript", "logs"]) {
    const read = await home.agent(["session", verb, "s", "--json"]);
    expect([read.code, errorCode(read.stderr)]).toEqual([4, "file_not_found"]);
  }
  await home.ok(["wait", "s", "--for", "stopped"]);
  rmdirSync(path);
  await home.ok(["session", "resume", "s"]);
  expect((await home.ok(["prompt", "s", "echo two"])).stdout).toBe("two\n");
});

it("I146 a transcript that was taken from a live session is written anew, whole", async () => {
  await using home = await Home.open();
  const { sessionId } = await home.newSession("s", "--prompt", "echo one");
  const path = transcriptOf(home, sessionId);
  const outputs = async (): Promise<unknown[]> =>
    (await home.transcript("s")).filter(({ type }) => type === "output").map(({ text }) => text);
  rmSync(path);
  expect(await doctor(home)).toMatch(/transcript_damaged[^]*writes all of it anew/);
  expect((await home.ok(["prompt", "s", "echo two"])).stdout).toBe("two\n");
  expect(await outputs()).toEqual(["one\n", "two\n"]);
  rmSync(path);
  expect(await outputs()).toEqual(["one\n", "two\n"]);
  expect(await doctor(home)).toBe("no problems\n");
  rmSync(path);
  writeFileSync(path, "not ours\n", { mode: 0o600 });
  const refused = await home.agent(["prompt", "s", "echo three", "--json"]);
  expect([refused.code, errorCode(refused.stderr)]).toEqual([6, "session_failed"]);
  rmSync(path);
  expect((await home.ok(["prompt", "s", "echo three"])).stdout).toBe("three\n");
});

it("doctor's advice for a live session whose journal or folder was removed brings it back", async () => {
  await using home = await Home.open();
  const { sessionId } = await home.newSession("s");
  rmSync(join(folderOf(home, sessionId), "journal"), { recursive: true });
  expect(await doctor(home)).toMatch(/session_degraded[^]*agent session stop .*, then agent session resume /);
  await home.ok(["stop", "s"]);
  await home.ok(["session", "resume", "s"]);
  expect((await home.ok(["prompt", "s", "echo one"])).stdout).toBe("one\n");
  const folder = folderOf(home, sessionId);
  rmSync(folder, { recursive: true });
  for (const args of [
    ["prompt", "s", "true"],
    ["session", "rename", "s", "s"],
    ["session", "transcript", "s"],
  ])
    expect((await home.agent(args)).stderr).toMatch(/hint: /);
  expect(await doctor(home)).toContain(`mkdir -m 700 sessions/${sessionId}`);
  mkdirSync(folder, { mode: 0o700 });
  await home.ok(["session", "rename", "s", "s"]);
  await home.ok(["stop", "s"]);
  await home.ok(["session", "resume", "s"]);
  expect((await home.ok(["prompt", "s", "echo two"])).stdout).toBe("two\n");
  expect(await doctor(home)).toBe("no problems\n");
});

it("I142 a stopped session whose folder was removed is told by doctor, refuses at once, and can be forgotten", async () => {
  await using home = await Home.open();
  const { sessionId } = await home.newSession("s");
  await home.ok(["stop", "s"]);
  rmSync(folderOf(home, sessionId), { recursive: true });
  expect(await doctor(home)).toMatch(/session_unreadable[^]*its folder is gone[^]*agent session delete/);
  const refused = await home.agent(["session", "resume", "s", "--json"]);
  expect([refused.code, errorCode(refused.stderr)]).toEqual([4, "file_not_found"]);
  await home.ok(["session", "delete", "s", "--yes"]);
  expect(await home.list()).toEqual([]);
  expect(await doctor(home)).toBe("no problems\n");
  expect(existsSync(folderOf(home, sessionId))).toBe(false);
});
