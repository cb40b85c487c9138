import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { Namespace } from "./support/namespace.ts";
import { type Identity, isZombie } from "./support/processes.ts";
import { parseRow } from "./support/rows.ts";
import type { SessionRow } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

/** What runs in a namespace has another number outside of it. */
function only(found: readonly Identity[]): Identity {
  const [one] = found;
  if (!one || found.length > 1) throw new Error(`not one: ${JSON.stringify(found)}`);
  return one;
}

const created = async (inside: Namespace): Promise<SessionRow> =>
  parseRow((await inside.ok("session", "new", "--name", "s", "--json")).stdout);
const shown = async (inside: Namespace): Promise<SessionRow> =>
  parseRow((await inside.ok("session", "show", "s", "--json")).stdout);

it("I132 I136 zombies that nobody reaps are gone: the home is claimed, the session recovers, a stop ends", async () => {
  await using home = await Home.open();
  using inside = await Namespace.open(home);
  const row = await created(inside);
  const [first, old] = [only(home.supervisors()), only(home.workers())];
  await home.kill(first);
  await waitFor(() => isZombie(first), "the daemon is a zombie");
  expect((await inside.ok("prompt", "s", "echo adopted")).stdout).toBe("adopted\n");
  expect((await shown(inside)).pid).toBe(row.pid);

  await home.kill(old);
  await waitFor(() => isZombie(old), "the worker is a zombie");
  expect((await inside.ok("prompt", "s", "echo recovered")).stdout).toBe("recovered\n");
  expect((await shown(inside)).pid).not.toBe(row.pid);

  // A worker that nobody reaps when it has ended as it was asked to.
  await home.kill(only(home.supervisors()));
  expect((await inside.ok("prompt", "s", "echo adopted")).stdout).toBe("adopted\n");
  const last = only(home.workers());
  await inside.ok("stop", "s");
  expect(isZombie(last)).toBe(true);
  expect((await shown(inside)).state).toBe("stopped");
  await inside.ok("ps", "--force-stop", "--yes");
  expect([first, old, last].map(isZombie)).toEqual([true, true, true]);
}, 120_000);

it("I131 I132 I164 a home in a new pid namespace, where strangers have the old numbers, is taken up and touches none of them", async () => {
  await using home = await Home.open();
  using before = await Namespace.open(home);
  const row = await created(before);
  const log = join(home.files, "log");
  await before.ok("prompt", "s", "--no-wait", `echo ran >> ${log}; sleep 600`);
  await before.ok("session", "follow-up", "s", "--no-wait", `echo next >> ${log}`);
  await waitFor(() => existsSync(log), "the turn runs");
  const numbers = [home.daemon().pid, home.worker(row).pid];
  await before.end();

  using after = await Namespace.open(home);
  const upTo = Math.max(...numbers) + 20;
  const strangers = after.run("sh", "-c", `for i in $(seq ${upTo}); do sleep 600 & echo $!; done; echo all; wait`);
  await strangers.untilPrinted("all");
  const taken = strangers.stdout.split("\n").slice(0, -2).map(Number);
  expect(taken).toEqual(expect.arrayContaining(numbers));
  expect((await after.ok("prompt", "s", `echo asked >> ${log}`)).stdout).toBe("");
  expect(readFileSync(log, "utf8")).toBe("ran\nnext\nasked\n");
  await after.ok("stop", "s", "--force");
  await after.ok("ps", "--force-stop", "--yes");
  const living = home.processes().filter(({ command }) => command === "sleep 600");
  expect(living).toHaveLength(upTo);
}, 120_000);

it("I135 I164 a worker in another pid namespace is adopted by its word, never signalled, and its stop ends", async () => {
  await using home = await Home.open();
  using before = await Namespace.open(home);
  const { generation } = await created(before);
  const old = only(home.workers());
  await home.kill(only(home.supervisors()));
  using after = await Namespace.open(home);
  expect((await after.ok("prompt", "s", "echo served")).stdout).toBe("served\n");
  expect((await shown(after)).generation).toBe(generation);
  await after.ok("stop", "s");
  expect(isZombie(old)).toBe(true);
  expect((await shown(after)).state).toBe("stopped");
}, 120_000);
