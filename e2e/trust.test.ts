import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { RunOptions } from "./support/command.ts";
import { Home } from "./support/home.ts";
import { errorCode } from "./support/rows.ts";

interface Entry {
  readonly directory: string;
  readonly addedAt: string;
  readonly state: string;
  readonly via?: string;
}
interface Check {
  readonly directory: string;
  readonly project: string | null;
  readonly trusted: boolean;
  readonly reason: string | null;
}

const trustFile = (home: Home): string => join(home.path, "trust.json");
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what an answer is, each test says
const answerOf = <T>(stdout: string): T => JSON.parse(stdout);

async function list(home: Home): Promise<readonly Entry[]> {
  const { stdout } = await home.ok(["trust", "list", "--json"]);
  return answerOf<{ directories: readonly Entry[] }>(stdout).directories;
}
const directories = async (home: Home): Promise<string[]> => (await list(home)).map(({ directory }) => directory);

async function check(home: Home, directory?: string, options: RunOptions = {}): Promise<Check> {
  const given = directory === undefined ? [] : [directory];
  return answerOf((await home.ok(["trust", "check", ...given, "--json"], options)).stdout);
}

const trust = async (home: Home, ...args: readonly string[]): Promise<Entry> =>
  answerOf((await home.ok(["trust", ...args, "--json"])).stdout);

/** A git work tree, as far as Holdfast looks, by its exact path. */
function workTree(home: Home, name = "project"): string {
  const project = join(realpathSync(home.files), name);
  mkdirSync(join(project, ".git"), { recursive: true });
  mkdirSync(join(project, "sub"));
  return project;
}

const revisionIn = (home: Home): string =>
  /"revision":"([^"]+)"/.exec(readFileSync(trustFile(home), "utf8"))?.[1] ?? "";

it("lists and checks without a daemon, and trusts and distrusts by one", async () => {
  await using home = await Home.open();
  const project = workTree(home);
  expect(await list(home)).toEqual([]);
  expect(await check(home, project)).toMatchObject({ directory: project, project, trusted: false });
  expect(existsSync(home.path)).toBe(false);
  const entry = await trust(home, "add", project);
  expect(entry).toEqual({
    schemaVersion: 1,
    directory: project,
    addedAt: expect.stringMatching(/^\d{4}-.+Z$/),
    state: "trusted",
  });
  const { addedAt } = entry;
  expect(await list(home)).toEqual([{ directory: project, addedAt, state: "trusted" }]);
  const trusted = { schemaVersion: 1, project, trusted: true, reason: null };
  expect(await check(home, undefined, { cwd: project })).toEqual({ ...trusted, directory: project });
  expect(await check(home, "sub", { cwd: project })).toEqual({ ...trusted, directory: join(project, "sub") });
  expect(await trust(home, "remove", project)).toMatchObject({ directory: project, state: "trusted", removed: true });
  expect(await list(home)).toEqual([]);
  expect(await check(home, project)).toMatchObject({ trusted: false, reason: `nobody has trusted ${project}` });
});

it("I47 another spelling shows where it leads, and is trusted by a terminal's word or --yes alone", async () => {
  await using home = await Home.open();
  const project = workTree(home);
  const link = join(realpathSync(home.files), "link");
  symlinkSync(project, link);
  writeFileSync(join(project, ".mcp.json"), "{}");
  for (const spelling of [link, `${project}/`, join(project, "sub"), "project"]) {
    const { code, stdout, stderr } = await home.agent(["trust", "add", spelling, "--json"]);
    expect([code, errorCode(stderr.split("\n").at(-2) ?? ""), stdout]).toEqual([2, "confirmation_required", ""]);
    expect(stderr).toContain(`its project is the git work tree ${project}\n`);
    expect(stderr).toContain("lets run what it has in .mcp.json\n");
  }
  expect(existsSync(trustFile(home))).toBe(false);
  expect(await check(home, link)).toMatchObject({ directory: link, project, trusted: false });
  expect(await trust(home, "add", link, "--yes")).toMatchObject({ directory: project, state: "trusted", via: link });
  // What was trusted is the project, and not the link.
  expect(await check(home, link)).toMatchObject({
    trusted: false,
    reason: expect.stringContaining(`leads to ${project}`),
  });
  expect(await check(home, project)).toMatchObject({ trusted: true });
});

it("asks on a terminal, and takes an empty line for no", async () => {
  await using home = await Home.open();
  const project = workTree(home);
  const asked = async (line: string): Promise<string> =>
    (await home.shell(`printf '${line}\\n' | script -qec "$AGENT trust add sub" /dev/null`, { cwd: project })).stdout;
  expect(await asked("")).toContain(`trust ${project}? [y/N]`);
  expect(await list(home)).toEqual([]);
  expect(await asked("y")).toContain(`trusted: ${project}`);
  expect(await directories(home)).toEqual([project]);
});

it("I160 a directory that is replaced is not trusted, doctor says what to do, and adding it renews it", async () => {
  await using home = await Home.open();
  const project = workTree(home);
  await trust(home, "add", project);
  const before = revisionIn(home);
  renameSync(project, `${project}.old`);
  workTree(home);
  expect(await list(home)).toMatchObject([{ directory: project, state: "replaced" }]);
  expect(await check(home, project)).toMatchObject({ trusted: false, reason: expect.stringContaining("another") });
  const { stdout } = await home.ok(["doctor"]);
  expect(stdout).toContain(`trust_replaced\t${project}\n`);
  expect(stdout).toContain(`agent trust add ${project}`);
  expect(await trust(home, "add", project)).toMatchObject({ state: "trusted" });
  expect(revisionIn(home)).not.toBe(before);
  expect(await list(home)).toMatchObject([{ directory: project, state: "trusted" }]);
  rmSync(project, { recursive: true });
  expect((await home.ok(["doctor"])).stdout).toContain(`trust_missing\t${project}\n`);
  expect(await trust(home, "remove", project)).toMatchObject({ state: "missing", removed: true });
  expect(await list(home)).toEqual([]);
});

it("I143 what was trusted outlives the daemon, and a repeat under a request id has the first answer", async () => {
  await using home = await Home.open();
  const project = workTree(home);
  const add = ["add", project, "--request-id", "a"];
  const first = await trust(home, ...add);
  const revision = revisionIn(home);
  await home.ok(["daemon", "restart"]);
  expect(await directories(home)).toEqual([project]);
  await home.kill(home.daemon());
  expect(await trust(home, ...add)).toEqual(first);
  expect(await trust(home, "add", project)).toEqual(first);
  expect(revisionIn(home)).toBe(revision);
  const other = await home.agent(["trust", "add", workTree(home, "other"), "--request-id", "a", "--json"]);
  expect([other.code, errorCode(other.stderr)]).toEqual([5, "request_id_reused"]);
  const removed = await trust(home, "remove", project, "--request-id", "r");
  await trust(home, "add", project);
  // Its effect was then: it takes away nothing that was trusted since.
  expect(await trust(home, "remove", project, "--request-id", "r")).toEqual(removed);
  expect(await directories(home)).toEqual([project]);
});

/** Kills the daemon as soon as the list is as wanted: its name is not synced then, and the answer not remembered. */
async function killedBetween(home: Home, args: readonly string[], isWritten: (text: string) => boolean): Promise<void> {
  const daemon = home.daemon();
  const client = home.start(["trust", ...args]);
  const until = Date.now() + 20_000;
  while (!(existsSync(trustFile(home)) && isWritten(readFileSync(trustFile(home), "utf8")))) {
    if (Date.now() > until) throw new Error("the list was never written");
    await new Promise((resolve) => setImmediate(resolve));
  }
  await home.kill(daemon);
  await client.result();
}

it("I143 a daemon that is killed between the list and its answer leaves one effect, whatever is repeated", async () => {
  await using home = await Home.open();
  const project = workTree(home);
  for (let round = 0; round < 3; round += 1) {
    await home.ok(["daemon", "start"]);
    const add = ["add", project, "--request-id", `a${round}`];
    await killedBetween(home, add, (text) => text.includes(project));
    const revision = revisionIn(home);
    expect(await trust(home, ...add)).toMatchObject({ directory: project, state: "trusted" });
    expect(await directories(home)).toEqual([project]);
    expect(revisionIn(home)).toBe(revision);
    const remove = ["remove", project, "--request-id", `r${round}`];
    await killedBetween(home, remove, (text) => !text.includes(project));
    expect(await trust(home, ...remove)).toMatchObject({ directory: project });
    expect(await list(home)).toEqual([]);
  }
}, 120_000);

it("I47 a malformed list trusts nothing, is never overwritten, and says which entry is wrong", async () => {
  await using home = await Home.open();
  const project = workTree(home);
  await trust(home, "add", project);
  const good = readFileSync(trustFile(home), "utf8");
  const wrong = good.replace('"revision":"', '"revision":"x');
  writeFileSync(trustFile(home), wrong);
  for (const verb of ["add", "remove"]) {
    const { code, stderr } = await home.agent(["trust", verb, project, "--json"]);
    expect([code, errorCode(stderr)]).toEqual([2, "invalid_config"]);
    expect(stderr).toContain(`${trustFile(home)}: directories[0]: its revision is no UUID`);
  }
  const listed = await home.agent(["trust", "list", "--json"]);
  expect([listed.code, errorCode(listed.stderr)]).toEqual([2, "invalid_config"]);
  expect(await check(home, project)).toMatchObject({
    trusted: false,
    reason: expect.stringContaining("directories[0]"),
  });
  expect((await home.ok(["doctor"])).stdout).toContain(`trust_malformed\t${trustFile(home)}\n`);
  await home.ok(["daemon", "restart"]);
  expect((await home.agent(["trust", "add", project])).code).toBe(2);
  expect(readFileSync(trustFile(home), "utf8")).toBe(wrong);
  writeFileSync(trustFile(home), good);
  expect(await trust(home, "add", project)).toMatchObject({ state: "trusted" });
  expect(readFileSync(trustFile(home), "utf8")).toBe(good);
});

it("I160 all ways to one project are one project of sessions, whose directory stays as it was given", async () => {
  await using home = await Home.open();
  const project = workTree(home);
  const link = join(realpathSync(home.files), "link");
  symlinkSync(join(project, "sub"), link);
  for (const [name, cwd] of [
    ["a", project],
    ["b", join(project, "sub")],
    ["c", link],
  ] as const) {
    const { stdout } = await home.ok(["new", "--name", name, "--cwd", cwd, "--json"]);
    expect(answerOf<object>(stdout)).toMatchObject({ cwd, project });
  }
});
