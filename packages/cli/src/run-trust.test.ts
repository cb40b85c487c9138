import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeIo } from "../test/fake-io.ts";
import { ScriptedDaemon } from "../test/scripted-daemon.ts";
import { run } from "./run.ts";

let daemon: ScriptedDaemon;
let root: string;
let project: string;
beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "trust-")));
  project = join(root, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  mkdirSync(join(project, "sub"));
  symlinkSync(project, join(root, "link"));
  daemon = new ScriptedDaemon();
  await daemon.serve(({ method, params }) =>
    method === "trust/add"
      ? { directory: project, addedAt: "2030-01-01T00:00:00.000Z", state: "trusted" }
      : { ...Object(params), removed: false },
  );
});
afterEach(async () => {
  await daemon.remove();
  rmSync(root, { recursive: true });
});

const trust = (io: FakeIo, ...argv: readonly string[]): Promise<number> =>
  run(["trust", ...argv, "--request-id", "r"], io.at(daemon.home));
const asked = (): unknown[] => daemon.asked.map(({ method, params }) => [method, params]);
const adding = (more: object = {}) => [["trust/add", { requestId: "r", directory: project, ...more }]];
const spellings = (): string[] => [`${root}/link`, `${project}/`, `${project}/sub`, `${root}/./project`];

describe("trust add", () => {
  it("asks nothing for the exact path of a project, and prints its row", async () => {
    const io = new FakeIo();
    expect(await trust(io, "add", project)).toBe(0);
    expect(io.stdout.text).toBe(`trusted: ${project}\n`);
    expect(asked()).toEqual(adding());
    const json = new FakeIo();
    expect(await trust(json, "add", project, "--json")).toBe(0);
    expect(JSON.parse(json.stdout.text)).toMatchObject({ schemaVersion: 1, directory: project, state: "trusted" });
  });

  it("I47 shows where another spelling leads, and without a terminal takes it with --yes alone", async () => {
    for (const spelling of spellings()) {
      const io = new FakeIo();
      expect(await trust(io, "add", spelling)).toBe(2);
      expect(io.stderr.text).toContain(`${spelling}: its project is the git work tree ${project}\n`);
      expect(io.stderr.text).toContain(`hint: agent trust add ${project}\n`);
    }
    expect(asked()).toEqual([]);
    expect(await trust(new FakeIo(), "add", `${root}/link`, "--yes")).toBe(0);
    expect(asked()).toEqual(adding({ via: `${root}/link` }));
  });

  it.each([
    { line: "", code: 2 },
    { line: "n", code: 2 },
    { line: "y", code: 0 },
  ])("asks on a terminal, and takes %j for an answer", async ({ line, code }) => {
    const io = new FakeIo({ terminal: true });
    io.line = Promise.resolve(line);
    expect(await trust(io, "add", `${project}/sub`)).toBe(code);
    expect(io.stderr.text).toContain(`trust ${project}? [y/N] `);
    expect(asked()).toEqual(code === 0 ? adding({ via: `${project}/sub` }) : []);
  });

  it("names first what trusting would let run", async () => {
    mkdirSync(join(project, ".holdfast"));
    for (const name of [".holdfast/config.json", ".mcp.json"]) writeFileSync(join(project, name), "secret words");
    const io = new FakeIo();
    expect(await trust(io, "add", project)).toBe(0);
    expect(io.stderr.text).toBe("trusting it lets run what it has in .holdfast/config.json and .mcp.json\n");
  });

  it("I47 refuses what is not there, and a directory without a name", async () => {
    const io = new FakeIo();
    expect(await trust(io, "add", `${root}/none`)).toBe(7);
    expect(io.stderr.text).toContain(`error: ${root}/none is not there\n`);
    expect(await trust(io, "add", "")).toBe(2);
    expect(asked()).toEqual([]);
  });
});

const entry = (directory: string): object => ({
  directory,
  device: "1",
  inode: "2",
  birthTimeNs: "3",
  revision: "11111111-1111-4111-8111-111111111111",
  addedAt: "2030-01-01T00:00:00.000Z",
});
const list = (...directories: readonly string[]): void =>
  writeFileSync(
    join(daemon.home, "trust.json"),
    JSON.stringify({ schemaVersion: 1, directories: directories.map(entry) }),
    { mode: 0o600 },
  );

describe("trust remove", () => {
  it("takes what the list has by the path that was given, else the project that it leads to", async () => {
    list(`${root}/gone`, `${root}/link`, project);
    const cases = [
      [`${root}/gone`, `${root}/gone`],
      [`${root}/link`, `${root}/link`],
      [`${project}/sub`, project],
      [`${root}/never`, `${root}/never`],
    ] as const;
    for (const [given, directory] of cases) {
      daemon.asked.length = 0;
      expect(await trust(new FakeIo(), "remove", given)).toBe(0);
      expect(asked()).toEqual([["trust/remove", { requestId: "r", directory }]]);
    }
  });

  it("says when nothing was there to remove", async () => {
    const io = new FakeIo();
    expect(await trust(io, "remove", project)).toBe(0);
    expect(io.stdout.text).toBe(`${project} was not trusted: nothing has changed\n`);
  });
});

describe("reading", () => {
  it("asks no daemon", async () => {
    const io = new FakeIo();
    expect(await trust(io, "list")).toBe(0);
    expect(io.stderr.text).toBe("no directory is trusted\n");
    expect(await trust(io, "check", `${root}/link`)).toBe(0);
    expect(io.stdout.text).toMatch(/^not trusted: .+ leads to .+\n {2}agent trust add .+\/project\n$/);
    expect(asked()).toEqual([]);
  });

  it("tells with --json whether a directory is trusted, and why not, and exits 0", async () => {
    for (const directory of [`${root}/none`, project]) {
      const io = new FakeIo();
      expect(await trust(io, "check", directory, "--json")).toBe(0);
      const { schemaVersion, ...check } = JSON.parse(io.stdout.text);
      expect(schemaVersion).toBe(1);
      expect(Object.keys(check)).toEqual(["directory", "project", "trusted", "reason"]);
      expect(check).toMatchObject({ directory, trusted: false, reason: expect.stringContaining(directory) });
    }
  });
});
