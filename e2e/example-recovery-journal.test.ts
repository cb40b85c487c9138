import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Result, Running } from "./support/command.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const packageFolder = join(root, "packages/recovery-journal");
const example = join(root, "examples/recovery-journal");
/** Packing two packages and installing them: seconds, if nothing else runs. */
const INSTALL_MS = 180_000;

const folder = mkdtempSync(join(tmpdir(), "hf-example-"));
const where = join(folder, "installed");

beforeAll(async () => {
  // As if its source had been deleted since an earlier build.
  writeFileSync(join(packageFolder, "dist/left-over.js"), "");
  for (const name of ["shared-process", "recovery-journal"]) {
    await execa("pnpm", ["pack", "--pack-destination", folder], { cwd: join(root, "packages", name) });
  }
  const tarballs = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  const own = new Set(["work.mjs", "package.json", "README.md"]);
  cpSync(example, where, {
    recursive: true,
    filter: (source) => source === example || own.has(source.slice(example.length + 1)),
  });
  const flags = ["--no-save", "--omit=optional", "--prefer-offline", "--no-audit", "--no-fund"];
  await execa("npm", ["install", ...flags, ...tarballs.map((name) => join(folder, name))], { cwd: where });
}, INSTALL_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** In an environment that leads to no other installation (`NODE_PATH`). */
const start = (...args: readonly string[]): Running =>
  new Running([process.execPath, ...(args[0]?.endsWith(".mjs") ? args : ["work.mjs", ...args])], {
    cwd: where,
    env: { PATH: process.env["PATH"] ?? "" },
  });
const run = async (): Promise<Result> => await start().result();
const whole = (pid: number): string => `started: copy-${pid}\ncompleted: copy-${pid}\n`;

describe("the example of recovery-journal, installed from its packed packages", () => {
  it("is the first example of the package's README, to the letter", () => {
    const readme = readFileSync(join(packageFolder, "README.md"), "utf8");
    const [, first] = /^## Use\n+```js\n([^]*?)^```$/m.exec(readme) ?? [];
    expect(first).toBe(readFileSync(join(example, "work.mjs"), "utf8"));
  });

  it("I67 says after a kill what was open, settles it once, and does it not again", async () => {
    const killed = start("60");
    await killed.untilPrinted("started:");
    killed.signal("SIGKILL");
    expect(await killed.result()).toMatchObject({ code: null, stdout: `started: copy-${killed.pid}\n`, stderr: "" });
    const next = start();
    expect(await next.result()).toMatchObject({
      code: 0,
      stdout: `interrupted: copy-${killed.pid} [ { step: 'started' } ]\n${whole(next.pid)}`,
      stderr: "",
    });
    const last = start();
    expect(await last.result()).toMatchObject({ code: 0, stdout: whole(last.pid), stderr: "" });
  });

  it("I144 leaves the journal to the one that has it", async () => {
    const working = start("60");
    await working.untilPrinted("started:");
    const { code, stdout } = await run();
    expect(code).toBe(1);
    expect(stdout).toContain("kind: 'owned'");
    expect(stdout).toContain(`identity: { pid: ${working.pid} }`);
    working.signal("SIGKILL");
    await working.result();
  });

  it("I71 refuses a damaged journal until a person decides, as the second example of the README does", async () => {
    const segment = (): string => {
      const [name = ""] = readdirSync(join(where, "journal")).filter((entry) => entry.startsWith("e"));
      return join(where, "journal", name);
    };
    await run();
    writeFileSync(segment(), readFileSync(segment(), "utf8").replace('"t":"head"', '"t":"heat"'));
    const refused = await run();
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining("why: 'corrupt'")]);
    const [, , second = ""] = readFileSync(join(packageFolder, "README.md"), "utf8").split(/^```js\n/m);
    writeFileSync(join(where, "decide.mjs"), second.slice(0, second.indexOf("```")));
    expect(await start("decide.mjs").result()).toMatchObject({ code: 0, stderr: "" });
    const again = start();
    expect(await again.result()).toMatchObject({ code: 0, stdout: whole(again.pid) });
  });
});

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

describe("the packed package", () => {
  const installed = join(where, "node_modules/@holdfast/recovery-journal");
  const files = (): string[] =>
    readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(installed, join(entry.parentPath, entry.name)));

  it("is built code and its declarations, with licence and README, and no tests", () => {
    const built = files().filter((name) => /^dist\/[\w/-]+(?:\.d\.ts|\.js)$/.test(name));
    const others = files().filter((name) => !built.includes(name));
    expect(others.toSorted()).toEqual(["LICENSE", "README.md", "package.json"]);
    expect(built).toContain("dist/index.js");
    expect(built).not.toContain("dist/left-over.js");
  });

  it("has every file that it exports", () => {
    const { exports }: Manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    const targets = Object.values(exports).flatMap((entry) =>
      typeof entry === "string" ? entry : Object.values(entry),
    );
    expect(targets).toContain("./dist/testing/index.d.ts");
    expect(targets.filter((path) => !existsSync(join(installed, path)))).toEqual([]);
  });
});
