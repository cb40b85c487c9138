import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Result, Running } from "./support/command.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const packageFolder = join(root, "packages/project-trust");
const example = join(root, "examples/project-trust");
/** Packing three packages and installing them: seconds, if nothing else runs. */
const INSTALL_MS = 180_000;

const folder = mkdtempSync(join(realpathSync(tmpdir()), "hf-example-"));
const where = join(folder, "installed");

beforeAll(async () => {
  for (const name of ["shared-process", "recovery-journal", "project-trust"]) {
    await execa("pnpm", ["pack", "--pack-destination", folder], { cwd: join(root, "packages", name) });
  }
  const tarballs = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  const own = new Set(["run.mjs", "package.json", "README.md"]);
  cpSync(example, where, {
    recursive: true,
    filter: (source) => source === example || own.has(source.slice(example.length + 1)),
  });
  const flags = ["--no-save", "--omit=optional", "--prefer-offline", "--no-audit", "--no-fund"];
  await execa("npm", ["install", ...flags, ...tarballs.map((name) => join(folder, name))], { cwd: where });
}, INSTALL_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** In an environment that leads to no other installation (`NODE_PATH`). */
const run = async (...args: readonly string[]): Promise<Result> =>
  await new Running([process.execPath, ...args], { cwd: where, env: { PATH: process.env["PATH"] ?? "" } }).result();
const program = async (...args: readonly string[]): Promise<Result> => await run("run.mjs", ...args);
const at = (...names: readonly string[]): string => join(where, ...names);
const RAN = "it ran\n{ kind: 'done', value: 0 }\n";

describe("the example of project-trust, installed from its packed packages", () => {
  beforeEach(() => {
    for (const name of ["project", "aside", "link", "trust.json"]) rmSync(at(name), { recursive: true, force: true });
    mkdirSync(at("project"));
    writeFileSync(at("project", "tool.json"), '{ "run": ["echo", "it ran"] }');
  });

  it("is the first example of the package's README, to the letter", () => {
    const readme = readFileSync(join(packageFolder, "README.md"), "utf8");
    const [, first] = /^## Use\n+```js\n([^]*?)^```$/m.exec(readme) ?? [];
    expect(first).toBe(readFileSync(join(example, "run.mjs"), "utf8"));
  });

  it("I47 runs nothing of a project that nobody trusts, and what it says of one that somebody does", async () => {
    const before = await program("project");
    expect([before.code, before.stdout]).toEqual([1, expect.stringContaining("reason: 'not_listed'")]);
    const trusted = await program("trust", "project");
    expect([trusted.code, trusted.stdout]).toEqual([0, `trusted: ${at("project")}\n`]);
    expect(await program("project")).toMatchObject({ code: 0, stdout: RAN, stderr: "" });
    symlinkSync("project", at("link"));
    expect(await program("./link/")).toMatchObject({ code: 0, stdout: RAN });
  });

  it("I160 runs nothing of another directory in its place, nor of itself in another one", async () => {
    await program("trust", "project");
    renameSync(at("project"), at("aside"));
    cpSync(at("aside"), at("project"), { recursive: true });
    const replaced = await program("project");
    expect([replaced.code, replaced.stdout]).toEqual([1, expect.stringContaining("reason: 'replaced'")]);
    const moved = await program("aside");
    expect([moved.code, moved.stdout]).toEqual([1, expect.stringContaining("reason: 'not_listed'")]);
    await program("trust", "./project");
    expect(await program("project")).toMatchObject({ code: 0, stdout: RAN });
  });

  it("I47 refuses a malformed list whole", async () => {
    await program("trust", "project");
    writeFileSync(at("trust.json"), readFileSync(at("trust.json"), "utf8").replace('"inode"', '"inodes"'));
    const refused = await program("project");
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining("entry: 0")]);
  });

  it("has a second example in the README, which runs too", async () => {
    const [, , second = ""] = readFileSync(join(packageFolder, "README.md"), "utf8").split(/^```js\n/m);
    writeFileSync(at("second.mjs"), second.slice(0, second.indexOf("```")));
    const { code, stdout, stderr } = await run("second.mjs");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("{ kind: 'in_force', entries: 1 }");
    expect(stdout).toContain("kind: 'done'");
    expect(stdout).toContain("revoked: disposed");
  });
});

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

describe("the packed package", () => {
  const installed = join(where, "node_modules/@holdfast/project-trust");
  const files = (): string[] =>
    readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(installed, join(entry.parentPath, entry.name)));

  it("is built code and its declarations, with licence and README, and no tests", () => {
    const built = files().filter((name) => /^dist\/[\w/-]+(?:\.d\.ts|\.js)$/.test(name));
    const others = files().filter((name) => !built.includes(name));
    expect(others.toSorted()).toEqual(["LICENSE", "README.md", "package.json"]);
    expect(built).toContain("dist/index.js");
  });

  it("has every file that it exports", () => {
    const { exports }: Manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    const targets = Object.values(exports).flatMap((entry) =>
      typeof entry === "string" ? entry : Object.values(entry),
    );
    expect(targets).toContain("./dist/index.d.ts");
    expect(targets.filter((path) => !existsSync(join(installed, path)))).toEqual([]);
  });
});
