import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { copyGolden, everything } from "../packages/cli/test/golden-journals.ts";
import { agentPath, type Result, Running } from "./support/command.ts";
import { Home } from "./support/home.ts";
import { commandWithoutLibrary, libraryName } from "./support/without-library.ts";

const folder = mkdtempSync(join(tmpdir(), "hf-journal-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const bare = commandWithoutLibrary(afterAll);

describe("agent journal, of the journal of a session", () => {
  it("shows what is open while it works, and that it was released when it is stopped, and writes nothing", async () => {
    await using home = await Home.open();
    const { sessionId } = await home.newSession("s");
    const directory = join(home.path, "sessions", sessionId, "journal");
    const prompt = home.start(["prompt", "s", "echo begin; sleep 60"]);
    await prompt.untilPrinted("begin");
    const shown = await home.ok(["journal", "show", directory, "--json", "--requests", "--records"]);
    const value: { owner: { generation: string } } = JSON.parse(shown.stdout);
    expect(value).toMatchObject({
      schemaVersion: 1,
      path: directory,
      kind: "journal",
      verdict: "ok",
      released: false,
      owner: { generation: (await home.show("s")).generation },
      segment: { capacityBytes: 16_384 },
    });
    expect(value).toHaveProperty("open", expect.arrayContaining([expect.objectContaining({ kind: "prompt" })]));
    expect(value).toHaveProperty("requests", expect.arrayContaining([expect.objectContaining({ outcome: null })]));
    expect(value).toHaveProperty("records.0.record.t", "head");

    await home.ok(["session", "cancel", "s"]);
    await home.ok(["stop", "s"]);
    await home.ok(["daemon", "stop", "--force"]);
    const before = everything(directory);
    const verdict = await home.ok(["journal", "verify", directory, "--json"]);
    expect(JSON.parse(verdict.stdout)).toMatchObject({ verdict: "ok", released: true, tornBytes: 0 });
    const { stdout, stderr } = await home.ok(["journal", "show", directory, "--requests"]);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^verdict\tok\n/);
    expect(stdout).toMatch(/^open\t0\n/m);
    expect(stdout).toMatch(/^request\t\S+\t\d{4}-\S+Z\t\{.+\}\n/m);
    expect(everything(directory)).toEqual(before);
    // And nothing was started for it.
    expect((await home.agent(["daemon", "status"])).code).toBe(3);

    const segment = join(directory, readdirSync(directory)[0] ?? "");
    const bytes = readFileSync(segment);
    const place = bytes.indexOf('"t":"request"');
    bytes.write("T", place + 1);
    writeFileSync(segment, bytes);
    const refused = await home.agent(["journal", "verify", directory, "--json"]);
    expect([refused.code, refused.stderr]).toEqual([7, ""]);
    const offset = bytes.lastIndexOf("\n", place) + 1;
    expect(JSON.parse(refused.stdout)).toMatchObject({ verdict: "refused", reason: "corrupt", file: segment, offset });
    expect(readFileSync(segment)).toEqual(bytes);
  });
});

const env = { PATH: process.env["PATH"] ?? "", HOLDFAST_HOME: join(folder, "home") };
const agent = async (program: string, ...args: readonly string[]): Promise<Result> =>
  await new Running([process.execPath, program, "journal", ...args], { cwd: folder, env }).result();

/** One of each verdict, as built; journal-golden.test.ts has them all. */
it.each(["v1/torn", "v2/at-work", "v2/corrupt", "v2/quarantined"])(
  "agent journal gives a golden file its verdict: %s",
  async (name) => {
    const { directory, path, code, verdict, open } = copyGolden(name, folder);
    const before = everything(directory);
    // One of them also without the library: nothing that it does is asked for here.
    for (const program of name === "v2/at-work" ? [agentPath, bare] : [agentPath]) {
      const verified = await agent(program, "verify", path, "--json");
      expect([verified.code, verified.stderr]).toEqual([code, ""]);
      expect(JSON.parse(verified.stdout)).toMatchObject(verdict);
      const shown = await agent(program, "show", path, "--json");
      expect(shown.code).toBe(code);
      expect(JSON.parse(shown.stdout)).toMatchObject({ ...verdict, ...open });
    }
    expect(everything(directory)).toEqual(before);
  },
);

it("agent journal does not load the library, and needs no home", async () => {
  const hook = join(folder, "hook.cjs");
  const maps = `require("node:fs").readFileSync("/proc/self/maps", "utf8").includes("${libraryName}")`;
  writeFileSync(hook, `process.on("exit", () => console.error(${maps}));\n`);
  const { path } = copyGolden("v2/at-work", folder);
  const argv = (...args: string[]): [string, ...string[]] => [process.execPath, "--require", hook, agentPath, ...args];
  const loaded = async (...args: string[]): Promise<string> =>
    (await new Running(argv(...args), { cwd: folder, env }).result()).stderr;
  expect(await loaded("journal", "show", path)).toBe("false\n");
  expect(await loaded("journal", "verify", path)).toBe("false\n");
  expect(await loaded("version")).toBe("true\n");
  expect(readdirSync(folder)).not.toContain("home");
});

it("agent journal of a path that is not there exits 4, and of none exits 2", async () => {
  const { code, stderr } = await agent(agentPath, "verify", join(folder, "nowhere"));
  expect(code).toBe(4);
  expect(stderr).toMatch(/^error: there is no .+\/nowhere\nhint: .+\n$/);
  expect((await agent(agentPath, "verify")).code).toBe(2);
});
