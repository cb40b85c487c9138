import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createObserver, type ProcessIdentity } from "../packages/shared-process/src/index.ts";
import { type Identity, identityOf, isRunning, signal } from "./support/processes.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const packageFolder = join(root, "packages/shared-process");
const example = join(root, "examples/shared-process");
/** Packing, and two installations of a few packages: seconds, if nothing else runs. */
const INSTALL_MS = 180_000;

const folder = mkdtempSync(join(tmpdir(), "hf-example-"));
const full = join(folder, "full");
const bare = join(folder, "bare");
let files: readonly string[] = [];

beforeAll(async () => {
  await execa("pnpm", ["pack", "--pack-destination", folder], { cwd: packageFolder });
  const tarball = join(folder, `holdfast-shared-process-${manifestOf(packageFolder).version}.tgz`);
  files = (await execa("tar", ["--list", "--file", tarball])).stdout.split("\n").map((name) => name.slice(8));
  await install(full, [tarball]);
  await install(bare, ["--omit=optional", tarball, "@types/node@20.19.43"]);
}, INSTALL_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function install(target: string, what: readonly string[]): Promise<void> {
  cpSync(example, target, { recursive: true, filter: (source) => !source.includes("node_modules") });
  const flags = ["--no-save", "--prefer-offline", "--no-audit", "--no-fund"];
  await execa("npm", ["install", ...flags, ...what], { cwd: target });
}

interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

function manifestOf(where: string): Manifest {
  const manifest: Manifest = JSON.parse(readFileSync(join(where, "package.json"), "utf8"));
  return manifest;
}

const installedIn = (where: string): string => join(where, "node_modules/@holdfast/shared-process");

/** The lines that the example prints, in an environment that leads to no other installation (`NODE_PATH`). */
async function run(where: string, ...args: readonly string[]): Promise<readonly string[]> {
  const options = { cwd: where, env: { PATH: process.env["PATH"] }, extendEnv: false };
  return (await execa(process.execPath, ["remember.mjs", ...args], options)).stdout.split("\n");
}

const left: Identity[] = [];
afterEach(() => {
  for (const identity of left.splice(0)) signal(identity, "SIGKILL");
});

/** What the example has started, by another way to tell processes apart than its own. */
async function start(where: string): Promise<{ lines: readonly string[]; record: ProcessIdentity; started: Identity }> {
  const lines = await run(where, "start");
  const record: ProcessIdentity = JSON.parse(readFileSync(join(where, "process.json"), "utf8"));
  const started = identityOf(record.pid);
  if (started === null) throw new Error("the example has started nothing");
  left.push(started);
  return { lines, record, started };
}

const GONE = /^\{ kind: 'gone', why: '(?:no-such-pid|defunct)' \}$/;

describe("the example of shared-process, installed from its packed package", () => {
  it("is the first example of the package's README, to the letter", () => {
    const readme = readFileSync(join(packageFolder, "README.md"), "utf8");
    const [, first] = /^## Use\n+```js\n([^]*?)^```$/m.exec(readme) ?? [];
    expect(first).toBe(readFileSync(join(example, "remember.mjs"), "utf8"));
  });

  it("stops the process that it remembered, from another program, and learns by what it ended", async () => {
    const { lines, started } = await start(full);
    expect(lines).toEqual(["linux-pidfd"]);
    expect(isRunning(started)).toBe(true);
    const basis = createObserver().capabilities().kernelIds ? "kernel-id" : "start-time";
    expect(await run(full, "stop")).toEqual([
      "linux-pidfd",
      `{ kind: 'current', basis: '${basis}' }`,
      "{ kind: 'sent', via: 'pidfd' }",
      "{ signal: 'SIGTERM' }",
    ]);
    expect(isRunning(started)).toBe(false);
    expect(await run(full, "stop")).toEqual(["linux-pidfd", expect.stringMatching(GONE)]);
  });

  it("says without the library why it is weaker, and sends nothing unless it is told to", async () => {
    const { lines, started } = await start(bare);
    const backend = "linux-narrow: koffi cannot be loaded: Cannot find module 'koffi'";
    const current = "{ kind: 'current', basis: 'start-time' }";
    expect(lines).toEqual([backend]);
    const withheld = "{ kind: 'not-sent', verdict: { kind: 'unknown', why: 'unsupported' } }";
    expect(await run(bare, "stop")).toEqual([backend, current, withheld]);
    expect(isRunning(started)).toBe(true);
    const sent = "{ kind: 'sent', via: 'narrow-window' }";
    expect(await run(bare, "stop", "--narrow")).toEqual([backend, current, sent, "null"]);
    expect(isRunning(started)).toBe(false);
    expect(await run(bare, "stop", "--narrow")).toEqual([backend, expect.stringMatching(GONE)]);
  });

  it.each([
    ["with the library", full],
    ["without it", bare],
  ])("I9 %s leaves alone a process that only has the number", async (_title, where) => {
    const { record, started } = await start(where);
    const other = { ...record, startTicks: "1", pidfsInode: record.pidfsInode && "1" };
    writeFileSync(join(where, "process.json"), JSON.stringify(other));
    const [, ...lines] = await run(where, "stop", "--narrow");
    expect(lines).toEqual(["{ kind: 'replaced', by: 'process' }"]);
    expect(isRunning(started)).toBe(true);
  });
});

describe("the packed package", () => {
  it("is built code and its declarations, with licence and README, and no tests", () => {
    const built = files.filter((name) => /^dist\/[\w/-]+(?:\.d\.ts|\.js)$/.test(name));
    expect(files.filter((name) => !built.includes(name)).toSorted()).toEqual(["LICENSE", "README.md", "package.json"]);
    expect(built).toContain("dist/index.js");
  });

  it("has every file that it exports", () => {
    const { exports } = manifestOf(installedIn(full));
    const targets = Object.values(exports).flatMap((entry) =>
      typeof entry === "string" ? entry : Object.values(entry),
    );
    expect(targets).toContain("./dist/testing/index.d.ts");
    expect(targets.filter((path) => !existsSync(join(installedIn(full), path)))).toEqual([]);
  });

  it("declares everything in its own types and those of Node", () => {
    const declared = files
      .filter((name) => name.endsWith(".d.ts"))
      .flatMap((name) => [
        ...readFileSync(join(installedIn(bare), name), "utf8").matchAll(/(?:from|import)\s*\(?"([^"]+)"/g),
      ])
      .map(([, from]) => from ?? "");
    expect(declared.length).toBeGreaterThan(10);
    expect(declared.filter((from) => !/^(?:\.{1,2}\/|node:)/.test(from))).toEqual([]);
  });

  it("compiles in a strict project that has the types of Node and not the library", async () => {
    const where = join(bare, "types");
    mkdirSync(where);
    writeFileSync(join(where, "consumer.mts"), CONSUMER);
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--moduleResolution", "nodenext"];
    const args = [...options, "--target", "es2022", "--types", "node", "--skipLibCheck", "false", "consumer.mts"];
    const tsc = await execa(join(root, "node_modules/.bin/tsc"), args, { cwd: where, reject: false });
    expect(tsc.stdout).toBe("");
    expect(tsc.exitCode).toBe(0);
  });
});

const CONSUMER = `
import { spawn } from "node:child_process";
import { createObserver, type ProcessHandle, type ProcessIdentity, type Verdict } from "@holdfast/shared-process";
import { FakeProcessTable } from "@holdfast/shared-process/testing";

const observer = createObserver({ mode: "narrow", ports: new FakeProcessTable(10) });
const adopted = observer.adopt(spawn("true"));
const handle: ProcessHandle | null = adopted.kind === "opened" ? adopted.handle : null;
const identity: ProcessIdentity = observer.self();
const verdict: Verdict = handle?.verdict() ?? observer.verdict(identity);
const basis: "handle" | "kernel-id" | "start-time" | null = verdict.kind === "current" ? verdict.basis : null;
const watch: Disposable | undefined = handle?.onExit(({ at, status }) => console.log(at, status));
// @ts-expect-error: a bare number is no identity
observer.signal(4711, "SIGTERM");
export { basis, watch };
`;
