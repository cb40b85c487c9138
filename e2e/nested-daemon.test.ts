import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { isRunning } from "./support/processes.ts";
import { waitFor } from "./support/wait-for.ts";

it.each([
  ["a stop", ["stop", "outer"]],
  ["a forced stop", ["stop", "outer", "--force"]],
])(
  "I153 a daemon that was started in the foreground inside a session outlives %s of it, with its sessions",
  async (_title, stop) => {
    await using home = await Home.open();
    const inner = join(home.root, "inner");
    const within = ["--home", inner];
    const outer = await home.newSession("outer");
    await home.ok(["prompt", "outer", `${home.shellCommand} daemon run --home ${inner} & sleep 600 &`]);
    await waitFor(
      async () => (await home.agent(["daemon", "status", ...within])).code === 0,
      "the inner daemon answers",
    );
    const status = JSON.parse((await home.ok(["daemon", "status", "--json", ...within])).stdout);
    await home.newSession("inner", ...within);
    await home.ok(["prompt", "inner", "cp $(command -v sleep) tmux; setsid ./tmux 602 > /dev/null 2>&1 &", ...within]);
    await home.ok(["prompt", "inner", "--no-wait", "sleep 601", ...within]);
    const before = home.processes();
    const daemon = before.find(({ pid }) => pid === status.pid);
    const agents = before.filter(({ command }) => command === "sleep 601");
    expect([daemon?.command, agents.length]).toEqual(["holdfastd", 1]);

    await home.ok(stop);

    const after = home.processes();
    const left = (text: string): number => after.filter(({ command }) => command.includes(text)).length;
    expect([left("sleep 600"), left("sleep 601")]).toEqual([0, 1]);
    expect(after.some(({ pid }) => pid === outer.pid)).toBe(false);
    expect(JSON.parse((await home.ok(["daemon", "status", "--json", ...within])).stdout).pid).toBe(status.pid);
    // That something is kept is a warning, and its standard error is the session's that is gone.
    await home.ok(["stop", "inner", ...within]);
    await home.ok(["session", "resume", "inner", ...within]);
    expect(JSON.parse((await home.ok(["session", "show", "inner", "--json", ...within])).stdout).state).toBe("ready");
    expect(daemon !== undefined && isRunning(daemon)).toBe(true);
    await home.ok(["ps", "--force-stop", "--yes", ...within]);
    for (const kept of home.processes().filter(({ command }) => command.includes("tmux 602"))) await home.kill(kept);
  },
);
