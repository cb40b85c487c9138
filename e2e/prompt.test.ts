import { afterAll, beforeAll, expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { signal } from "./support/processes.ts";
import { errorCode, outputOf, parseEvents, parseRow } from "./support/rows.ts";

let home: Home;
beforeAll(async () => {
  home = await Home.create();
});
afterAll(async () => await home[Symbol.asyncDispose]());

it("new --prompt prints the command's output alone and exits 0", async () => {
  const result = await home.agent(["session", "new", "--prompt", "echo out; echo err >&2"]);
  expect(result).toMatchObject({ code: 0, stdout: "out\n" });
  expect(result.stderr).toContain("err\n");
});

it("a failing command is exit 1, its own status with --exit-code, and 125 is ours", async () => {
  await home.newSession("failing");
  expect(await home.agent(["prompt", "failing", "(exit 7)"])).toMatchObject({ code: 1, stdout: "" });
  expect(await home.agent(["prompt", "failing", "--exit-code", "(exit 7)"])).toMatchObject({ code: 7 });
  expect(await home.agent(["prompt", "absent", "--exit-code", "true"])).toMatchObject({ code: 125 });
  const json = await home.agent(["prompt", "failing", "--json", "(exit 7)"]);
  expect([json.code, errorCode(json.stderr)]).toEqual([1, "command_failed"]);
});

it("a second prompt sees the directory, the variables and the functions of the first", async () => {
  await home.newSession("kept");
  await home.ok(["prompt", "kept", "cd /usr; X='a b'; f() { echo \"<$1>\"; }"]);
  expect((await home.ok(["prompt", "kept", 'pwd; f "$X"'])).stdout).toBe("/usr\n<a b>\n");
});

it("new --prompt --json begins with the session and ends with its turn's end", async () => {
  const { code, stdout } = await home.agent(["new", "--name", "events", "--prompt", "echo hi", "--json"]);
  const events = parseEvents(stdout);
  expect(code).toBe(0);
  expect(events[0]).toMatchObject({ type: "session", name: "events", state: "ready", created: true });
  expect(events.at(-1)).toMatchObject({ type: "turn_ended", stopReason: "end_turn", exitCode: 0 });
  expect(outputOf(events)).toBe("hi\n");
  expect(new Set(events.slice(1).map(({ sessionId }) => sessionId)).size).toBe(1);
});

it("new, show and list agree on one row with every field of the contract", async () => {
  const { stdout } = await home.ok(["session", "new", "--name", "row", "--cwd", "/usr", "--json"]);
  const row = parseRow(stdout);
  const fields = "sessionId name agent cwd project lifecycle state activity pid generation createdAt lastActivityAt";
  const more = "parentId childCount openOperations memoryBytes reason created schemaVersion";
  expect(Object.keys(row)).toEqual(expect.arrayContaining([...fields.split(" "), ...more.split(" ")]));
  expect(row).toMatchObject({ schemaVersion: 1, cwd: "/usr", state: "ready", activity: "idle", created: true });
  const [listed, shown] = [await home.list(), await home.show(row.sessionId)];
  const { sessionId, pid, generation } = row;
  expect(listed.filter((one) => one.sessionId === sessionId)).toMatchObject([{ pid, generation }]);
  expect(shown).toMatchObject({ sessionId, pid, state: "ready" });
});

it("prompt --no-wait answers at once with an action; --timeout leaves with 8 and the turn goes on", async () => {
  await home.newSession("timed");
  const accepted = await home.ok(["prompt", "timed", "--no-wait", "--json", "sleep 1.5; echo late"]);
  expect(JSON.parse(accepted.stdout)).toMatchObject({ status: "accepted", actionId: expect.any(String) });
  const left = await home.agent(["prompt", "timed", "--timeout", "300ms", "--json", "echo after"]);
  expect([left.code, errorCode(left.stderr)]).toEqual([8, "timeout"]);
  expect((await home.ok(["prompt", "timed", "echo last"])).stdout).toBe("last\n");
  expect(outputOf(await home.transcript("timed"))).toBe("late\nafter\nlast\n");
});

it("Ctrl-C before a frozen daemon answered says that it may have been accepted, and a repeat runs it once", async () => {
  await using own = await Home.open();
  await own.newSession("s");
  const daemon = own.daemon();
  own.freeze(daemon);
  const prompting = own.start(["prompt", "s", "echo ran", "--request-id", "r-1"]);
  await prompting.untilPrinted("does not answer");
  prompting.signal("SIGINT");
  const { code, stderr } = await prompting.result(5_000);
  expect(code).toBe(130);
  expect(stderr).toContain("not known; agent session prompt s TEXT --request-id r-1 takes effect once\n");
  signal(daemon, "SIGCONT");
  expect((await own.ok(["prompt", "s", "echo ran", "--request-id", "r-1"])).stdout).toBe("ran\n");
  const starts = (await own.transcript("s")).filter(({ type }) => type === "turn_started");
  expect(starts).toHaveLength(1);
}, 60_000);
