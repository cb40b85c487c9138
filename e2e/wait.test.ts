import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Running } from "./support/command.ts";
import { Home } from "./support/home.ts";
import { isRunning } from "./support/processes.ts";
import { errorCode } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

/** A turn that goes on until `finish` exists; resolves when it runs. */
async function longTurn(home: Home, session: string): Promise<{ readonly finish: () => Promise<void> }> {
  const [begun, finish] = [join(home.files, `${session}-begun`), join(home.files, `${session}-finish`)];
  const command = `touch ${begun}; until test -e ${finish}; do sleep 0.05; done; (exit 7)`;
  await home.ok(["prompt", session, "--no-wait", command]);
  await waitFor(() => existsSync(begun), "the turn runs");
  return { finish: async () => void (await home.run(["touch", finish]).result()) };
}

const answerOf = async (waiting: Running): Promise<unknown> => {
  const { code, stdout, stderr } = await waiting.result();
  return { code, stderr, answer: JSON.parse(stdout) };
};

it("wait for idle holds over a restart and over the death of the daemon, and says how the turn ended", async () => {
  await using home = await Home.open();
  const { sessionId } = await home.newSession("s");
  const turn = await longTurn(home, "s");
  const waiting = home.start(["wait", "s", "--json"]);
  await home.ok(["daemon", "restart"]);
  await home.kill(home.daemon());
  await waiting.untilPrinted("starting the daemon for");
  expect(waiting.hasEnded()).toBe(false);
  await turn.finish();
  expect(await answerOf(waiting)).toMatchObject({
    code: 0,
    answer: { schemaVersion: 1, sessionId, matched: true, lastTurn: { stopReason: "end_turn", exitCode: 7 } },
  });
  const again = await home.ok(["session", "wait", "s"]);
  expect(again.stdout).toBe("s: idle; last turn: end_turn, exit 7\n");
}, 90_000);

it("of several sessions all are waited for, or with --any one; over the time is exit 8", async () => {
  await using home = await Home.open();
  await home.newSession("a");
  await home.newSession("b");
  const turn = await longTurn(home, "a");
  const late = await home.agent(["wait", "a", "b", "--timeout", "200ms", "--json"]);
  expect([late.code, errorCode(late.stderr)]).toEqual([8, "timeout"]);
  const matched = late.stdout
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line).matched);
  expect(matched).toEqual([false, true]);
  const any = home.start(["wait", "a", "b", "--any", "--for", "stopped"]);
  await home.ok(["stop", "b"]);
  expect(await any.result()).toMatchObject({ code: 0, stdout: "b: stopped\n" });
  await turn.finish();
  expect((await home.ok(["wait", "a", "b"])).stdout).toBe("a: idle; last turn: end_turn, exit 7\nb: idle\n");
}, 90_000);

it("works without a daemon and starts none; a session that is deleted meanwhile is not found", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  await home.ok(["stop", "s"]);
  const waiting = home.start(["wait", "s", "--for", "failed"]);
  await home.ok(["session", "delete", "s", "--yes"]);
  // At once, not with the next slice of its wait.
  expect((await waiting.result(10_000)).code).toBe(4);
  await home.newSession("t");
  const daemon = home.daemon();
  await home.ok(["daemon", "stop"]);
  await waitFor(() => !isRunning(daemon), "the daemon has ended");
  const { stdout, stderr } = await home.ok(["wait", "t"]);
  expect(stdout).toBe("t: idle\n");
  expect(stderr).toContain("no daemon runs for");
  expect(home.processes()).toEqual([]);
}, 90_000);
