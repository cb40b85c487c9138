import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { agentPath } from "./support/command.ts";
import { Home } from "./support/home.ts";
import { bundlesOf, commandWithoutLibrary, libraryName } from "./support/without-library.ts";

const bare = commandWithoutLibrary(afterAll);
const env = { PATH: process.env["PATH"] };

/** What `require` says in a program that lies beside the three programs of the command. */
function resolved(agent: string): string {
  const program = JSON.stringify(join(bundlesOf(agent), "agent.js"));
  const script = `try { require("node:module").createRequire(${program})("${libraryName}"); console.log("found"); }
    catch (error) { console.log(error.code); }`;
  return execFileSync(process.execPath, ["-e", script], { env, encoding: "utf8" }).trim();
}

interface Version {
  readonly backend: string;
  readonly version: string;
}

function version(agent: string): Version {
  return JSON.parse(execFileSync(process.execPath, [agent, "version", "--json"], { env, encoding: "utf8" }));
}

describe("a copy of the built command without the library", () => {
  it("cannot load it, and the repository's build can", () => {
    expect([resolved(bare), resolved(agentPath)]).toEqual(["MODULE_NOT_FOUND", "found"]);
  });

  it("is the same version, and says that it proves less", () => {
    const [without, withIt] = [version(bare), version(agentPath)];
    expect(without).toEqual({ ...withIt, backend: "linux-narrow" });
    expect(withIt.backend).toBe("linux-pidfd");
  });

  it.each([
    ["the copy", bare],
    ["the repository's build", agentPath],
  ])("%s starts the supervisor and the workers that lie beside it", async (_title, agent) => {
    await using home = await Home.open();
    expect((await home.run([process.execPath, agent, "new", "--name", "s"]).result()).code).toBe(0);
    const worker = home.worker(await home.show("s"));
    expect(readFileSync(`/proc/${worker.pid}/cmdline`, "utf8")).toContain(join(bundlesOf(agent), "worker.js"));
    const isLoaded = readFileSync(`/proc/${home.daemon().pid}/maps`, "utf8").includes(libraryName);
    expect(isLoaded).toBe(agent !== bare);
  });

  it("is removed at the end", () => {
    const removals: (() => void)[] = [];
    const agent = commandWithoutLibrary((remove) => void removals.push(remove));
    expect(existsSync(agent)).toBe(true);
    for (const remove of removals) remove();
    expect(existsSync(join(agent, "../.."))).toBe(false);
  });
});
