import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { MountNamespace } from "./support/mount-namespace.ts";
import { isRunning } from "./support/processes.ts";
import type { Identity } from "./support/processes.ts";
import { psOf } from "./support/ps.ts";
import { parseRow } from "./support/rows.ts";

interface Inside {
  readonly inside: MountNamespace;
  readonly sessionId: string;
  readonly daemon: Identity;
  readonly worker: Identity;
}

/** A daemon and a worker whose home has the path of the one outside. */
async function running(home: Home): Promise<Inside> {
  const inside = await MountNamespace.open(home);
  const { sessionId } = parseRow((await inside.ok("session", "new", "--name", "s", "--json")).stdout);
  const [daemon, worker] = [home.supervisors()[0], home.workers()[0]];
  if (!daemon || !worker) throw new Error("nobody runs inside");
  return { inside, sessionId, daemon, worker };
}

interface Problem {
  readonly kind: string;
  readonly subject: string;
  readonly next?: string;
  readonly needs?: readonly string[];
}

async function problemsOf(home: Home): Promise<readonly Problem[]> {
  const { problems }: { readonly problems: readonly Problem[] } = JSON.parse(
    (await home.agent(["doctor", "--json"])).stdout,
  );
  return problems.filter(({ kind }) => kind !== "narrow_signals" && kind !== "no_peer_check");
}

it("I131 I147 ps --force-stop ends nobody of a home that has this path in another mount namespace, nor does doctor advise it", async () => {
  await using home = await Home.open();
  const { inside, sessionId, daemon, worker } = await running(home);
  const both = [daemon, worker];
  const stopped = await home.ok(["ps", "--force-stop", "--yes", "--json"]);
  expect(JSON.parse(stopped.stdout)).toMatchObject({ stopped: [], failed: [] });
  expect(both.map((one) => isRunning(one))).toEqual([true, true]);
  expect(await problemsOf(home)).toEqual([]);
  expect((await psOf(home)).daemons).toEqual([]);
  // Of every home, either: they are named, and kept.
  const all: { readonly plan: readonly { readonly pid: number | null }[]; readonly kept: readonly object[] } =
    JSON.parse((await home.ok(["ps", "--force-stop", "--all", "--dry-run", "--json"])).stdout);
  const pids = both.map(({ pid }) => pid);
  expect(all.plan.filter(({ pid }) => pid !== null && pids.includes(pid))).toEqual([]);
  for (const pid of pids)
    expect(all.kept).toContainEqual({
      kind: "process",
      id: expect.stringContaining(`:${pid}:`),
      reason: expect.stringContaining("another mount namespace"),
    });
  expect((await inside.ok("prompt", "s", "echo served")).stdout).toBe("served\n");
  expect((await inside.ok("session", "show", "s", "--json")).stdout).toContain(sessionId);
});

it.each(["with", "without"])(
  "I131 I147 a copy %s lifelines at the path that its original has in another mount namespace ends nobody of that",
  async (how) => {
    await using home = await Home.open();
    const { inside, sessionId, daemon, worker } = await running(home);
    expect((await home.run(["cp", "-a", `${inside.path}/.`, home.path]).result()).code).toBe(0);
    if (how === "without") rmSync(join(home.path, "run"), { recursive: true });
    const stopped = await home.agent(["ps", "--force-stop", "--yes", "--json"]);
    expect(JSON.parse(stopped.stdout)).toMatchObject({ stopped: [] });
    expect([daemon, worker].map((one) => isRunning(one))).toEqual([true, true]);
    expect((await inside.ok("prompt", "s", "echo served")).stdout).toBe("served\n");
    // Nothing in such a copy tells of a lifeline.
    if (how === "without") return;
    const found = await problemsOf(home);
    expect(found).toContainEqual(
      expect.objectContaining({ kind: "descriptor_damaged", subject: sessionId, needs: [] }),
    );
    expect(found.filter(({ next }) => next?.includes("end") === true || next?.includes("force-stop") === true)).toEqual(
      [],
    );
  },
);
