import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openSessionStore, requestHash } from "../src/transport/index.ts";
import { World, bundleWorker, codeOf, isAlive, until } from "./harness.ts";

let bundles: string;
let program: string;
let world: World;

beforeAll(async () => {
  bundles = mkdtempSync(join(tmpdir(), "hf-bundle-"));
  program = await bundleWorker(bundles);
});
afterAll(() => rmSync(bundles, { recursive: true, force: true }));
beforeEach(() => {
  world = new World();
});
afterEach(() => world.dispose());

describe("turns of the shell", () => {
  it("keeps directory and variables, reports status, and separates the streams", async () => {
    const worker = await world.launch(program);
    expect((await worker.prompt("mkdir -p d && cd d; X=1; echo out; echo err >&2; false")).ended).toMatchObject({
      stopReason: "end_turn",
      exitCode: 1,
      cwd: join(world.cwd, "d"),
    });
    const second = await worker.prompt('echo "$X $PWD"; echo oops >&2');
    expect(second).toMatchObject({ stdout: `1 ${world.cwd}/d\n`, stderr: "oops\n" });
    expect(second.ended).toMatchObject({ exitCode: 0 });
  });

  it("I150 passes output byte for byte", async () => {
    const worker = await world.launch(program);
    const text = "a\u2028b\u0085c\rd😀";
    expect((await worker.prompt(`printf '%s' '${text}'`)).stdout).toBe(text);
    await worker.prompt("printf '\\377\\0x'");
    const last = world.transcript.findLast((line) => line["type"] === "output");
    expect(last).toMatchObject({ bytes: Buffer.from([0xff, 0, 0x78]).toString("base64") });
  });

  it("gives the commands the session's environment and nothing of Holdfast's own", async () => {
    const worker = await world.launch(program);
    // bash itself sets PWD, SHLVL and _.
    const names = await worker.prompt("env | cut -d= -f1 | sort | tr '\\n' ' '");
    expect(names.stdout).toBe("HOLDFAST_SESSION HOME LANG PATH PWD SHLVL _ ");
    // 3 is the directory that ls reads.
    expect((await worker.prompt("ls /proc/self/fd | grep -x '[0-9]' | tr '\\n' ' '")).stdout).toBe("0 1 2 3 ");
    expect((await worker.prompt("set")).stdout).not.toMatch(/^__hf_nonce=/m);
  });

  it("goes on with a new shell after `exit`, and says that variables are lost", async () => {
    const worker = await world.launch(program);
    await worker.prompt("cd /; X=1");
    expect((await worker.prompt("exit 3")).ended).toMatchObject({
      stopReason: "end_turn",
      exitCode: 3,
      cwd: world.cwd,
    });
    expect((await worker.prompt('echo "[$X] $PWD"')).stdout).toBe(`[] ${world.cwd}\n`);
    expect(world.transcript.find((line) => line["type"] === "restored")).toMatchObject({ by: "fresh" });
    expect((await worker.prompt("kill -9 $$")).ended).toMatchObject({ exitCode: 137 });
  });

  it("steers the running command through its standard input, and only that one", async () => {
    const worker = await world.launch(program);
    const { actionId } = await worker.submit("prompt", "read a; echo got $a; sleep 0.3");
    await worker.started(actionId);
    expect(await worker.submit("steer", "hello")).toMatchObject({ status: "injected" });
    expect(await worker.submit("steer", "left over")).toMatchObject({ status: "injected" });
    await worker.ended(actionId);
    expect(world.transcript.map((line) => line["text"])).toContain("got hello\n");
    expect((await worker.prompt("read -t 0.2 b || echo nothing")).stdout).toBe("nothing\n");
    const queued = await worker.submit("steer", "echo by itself");
    expect(queued).toMatchObject({ status: "queued" });
    await worker.ended(queued["actionId"]);
  });

  it("I149 is not confused by a command that defines functions with the names of builtins", async () => {
    const worker = await world.launch(program);
    for (const name of ["printf", "read", "unset", "eval", "trap", "shopt", "echo", "test"])
      await worker.prompt(`${name}() { command true; }`);
    expect((await worker.prompt("X=1; command echo still here")).stdout).toBe("still here\n");
    const { actionId } = await worker.submit("prompt", "while :; do sleep 0.05; done");
    await worker.started(actionId);
    await worker.request("session/cancel", { requestId: "c1", hash: "h" });
    expect(await worker.ended(actionId)).toMatchObject({ stopReason: "cancelled" });
    expect((await worker.prompt("command echo $X")).stdout).toBe("1\n");
  });

  it("cancels a turn and keeps the shell with its variables", async () => {
    const worker = await world.launch(program);
    await worker.prompt("X=kept; f() { while :; do sleep 0.05 | cat; done; }");
    const { actionId } = await worker.submit("prompt", "f; echo not reached");
    await worker.started(actionId);
    await worker.request("session/cancel", { requestId: "c2", hash: "h" });
    expect(await worker.ended(actionId)).toMatchObject({ stopReason: "cancelled" });
    expect((await worker.prompt("echo $X")).stdout).toBe("kept\n");
    expect(world.transcript.some((line) => line["type"] === "restored")).toBe(false);
    await worker.request("session/cancel", { requestId: "c3", hash: "h" });
  });

  it("kills what ignores the interrupt at a second cancel, and starts a new shell where it was", async () => {
    const worker = await world.launch(program);
    await worker.prompt("mkdir e; cd e");
    const { actionId } = await worker.submit("prompt", "trap '' INT; while :; do sleep 5; done");
    await worker.started(actionId);
    await worker.request("session/cancel", { requestId: "c4", hash: "h" });
    await worker.request("session/cancel", { requestId: "c5", hash: "h", actionId });
    expect(await worker.ended(actionId)).toMatchObject({ stopReason: "cancelled" });
    expect((await worker.prompt("pwd")).stdout).toBe(`${world.cwd}/e\n`);
  });

  it("runs one turn at a time in order; an interrupting steer goes ahead, a cancelled action does not run", async () => {
    const worker = await world.launch(program);
    const first = await worker.submit("prompt", "sleep 30");
    await worker.started(first["actionId"]);
    const second = await worker.submit("follow_up", "echo second");
    const third = await worker.submit("prompt", "echo third");
    await worker.request("session/cancel", { requestId: "c6", hash: "h", actionId: third["actionId"] });
    const urgent = await worker.submit("steer", "echo urgent", { interrupt: true });
    expect(urgent).toMatchObject({ status: "interrupted" });
    await worker.ended(second["actionId"]);
    const order = world.transcript.filter((line) => line["type"] === "turn_started").map((line) => line["actionId"]);
    expect(order).toEqual([first["actionId"], urgent["actionId"], second["actionId"]]);
    expect(world.transcript.find((line) => line["type"] === "action_cancelled")).toMatchObject({
      actionId: third["actionId"],
    });
  });

  it("I143 answers a repeated request with its first answer and refuses another under its id", async () => {
    const worker = await world.launch(program);
    const params = { requestId: "r", hash: requestHash("m", { text: "true" }), kind: "prompt", text: "true" };
    const first = await worker.request("session/prompt", params);
    await worker.ended(first["actionId"]);
    expect(await worker.request("session/prompt", params)).toEqual(first);
    const other = worker.request("session/prompt", { ...params, hash: "x" });
    expect(codeOf(await other.catch((error: unknown) => error))).toBe("request_id_reused");
    const nul = worker.submit("prompt", "a\0b");
    expect(codeOf(await nul.catch((error: unknown) => error))).toBe("usage");
  });
});

describe("who may talk to a worker", () => {
  it("refuses a wrong token, generation and an older epoch; the newest supervisor alone may change things", async () => {
    const worker = await world.launch(program);
    const old = worker.control;
    expect(await worker.connectControl({ token: "x" })).toEqual({ kind: "refused", why: "token" });
    expect(await worker.connectControl({ generation: "x" })).toEqual({ kind: "refused", why: "generation" });
    expect(await worker.connectControl({ epoch: 5, purpose: "attach" })).toMatchObject({
      kind: "hello",
      phase: "serving",
    });
    expect(await worker.connectControl({ epoch: 4 })).toEqual({ kind: "refused", why: "stale_epoch", epoch: 5 });
    const late = old.request("session/cancel", { requestId: "c7", hash: "h" });
    expect(codeOf(await late.catch((error: unknown) => error))).toBe("ownership_lost");
    expect(await worker.connectControl({ epoch: 5 })).toMatchObject({ kind: "hello" });
    await until("the older connection is closed", () => old.closed);
    expect(statSync(worker.socketPath).mode & 0o777).toBe(0o600);
  });

  it("ends without the word of its gate", async () => {
    const worker = await world.launch(program);
    const { spawnSync } = await import("node:child_process");
    const silent = spawnSync(process.execPath, [program], { stdio: ["ignore", "ignore", "ignore", "ignore"] });
    expect(silent.status).toBe(3);
    expect(worker.child.exitCode).toBeNull();
  });

  it("without a supervisor: binds its socket again when the file vanished, ends when its home vanished", async () => {
    const worker = await world.launch(program);
    unlinkSync(worker.socketPath);
    worker.control.destroy();
    await until("the socket is back", () => existsSync(worker.socketPath), 12_000);
    expect(await worker.connectControl()).toMatchObject({ kind: "hello", phase: "serving" });
    const { stdout } = await worker.prompt("echo $$");
    rmSync(world.home, { recursive: true });
    worker.control.destroy();
    expect(await worker.exited).toBe(0);
    expect(isAlive(Number(stdout))).toBe(false);
  });
});

describe("the end of a worker", () => {
  it("I145 I162 stops within its bound with all descendants, and settles what was accepted", async () => {
    const worker = await world.launch(program);
    const { stdout } = await worker.prompt("setsid sleep 300 >/dev/null 2>&1 & echo $!");
    const pid = Number(stdout);
    expect(isAlive(pid)).toBe(true);
    const running = await worker.submit("prompt", "trap '' TERM INT; while :; do sleep 9; done");
    await worker.started(running["actionId"]);
    const waiting = await worker.submit("prompt", "echo never");
    const viewer = await worker.attach({ from: "now", follow: true });
    const began = performance.now();
    expect(await worker.request("worker/stop", { stopId: "x", goal: "stop", force: false })).toEqual({
      kind: "acknowledged",
      graceMs: 1_000,
    });
    expect(await worker.exited).toBe(0);
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(worker.socketPath)).toBe(false);
    expect(world.transcript.find((line) => line["type"] === "action_cancelled")).toMatchObject({
      actionId: waiting["actionId"],
      reason: "stopped",
    });
    expect(
      world.transcript.find((line) => line["type"] === "turn_ended" && line["actionId"] === running["actionId"]),
    ).toMatchObject({ stopReason: "cancelled" });
    expect(viewer.ended).toBe("reattach");
  });

  it("I125 passivation is refused while busy; SIGTERM keeps accepted actions for the next worker", async () => {
    const worker = await world.launch(program);
    const { stdout } = await worker.prompt("cd /tmp; sleep 300 >/dev/null 2>&1 & echo $!");
    const passivate = { stopId: "p", goal: "passivate", force: false };
    expect(await worker.request("worker/stop", passivate)).toMatchObject({ kind: "busy" });
    await worker.prompt(`kill ${stdout}; wait; true`);
    const running = await worker.submit("prompt", "sleep 300");
    await worker.started(running["actionId"]);
    const waiting = await worker.submit("prompt", "pwd");
    expect(await worker.request("worker/stop", passivate)).toMatchObject({ kind: "busy" });
    worker.child.kill("SIGTERM");
    expect(await worker.exited).toBe(0);
    expect(worker.notifications.map(({ method }) => method)).toContain("worker/closing");
    expect(await worker.ended(running["actionId"])).toMatchObject({ stopReason: "interrupted" });
    const next = await world.launch(program, true);
    await next.ended(waiting["actionId"]);
    expect(world.transcript.findLast((line) => line["type"] === "output")).toMatchObject({ text: "/tmp\n" });
    await until("it is idle", () => next.notifications.some(({ params }) => params["openOperations"] === 0) || null);
    expect(await next.request("worker/stop", passivate)).toMatchObject({ kind: "acknowledged" });
    expect(await next.exited).toBe(0);
  });

  it("I136 I161 leaves after kill -9 a marker for what ran and the rest for the next worker", async () => {
    const worker = await world.launch(program);
    const { stdout } = await worker.prompt("echo $$");
    const running = await worker.submit("prompt", "sleep 300");
    await worker.started(running["actionId"]);
    const waiting = await worker.submit("prompt", "echo later");
    await worker.kill();
    process.kill(-Number(stdout), "SIGKILL");
    const opened = await openSessionStore({
      directory: world.sessionDirectory,
      sessionId: "s1",
      owner: { generation: "supervisor", identity: {} },
      probeOwner: () => "gone",
      engine: "pool",
    });
    if (opened.kind !== "opened") throw new Error(opened.kind);
    expect((await opened.store.settleInterrupted()).map(({ actionId }) => actionId)).toEqual([running["actionId"]]);
    await opened.store.close();
    const next = await world.launch(program, true);
    await next.ended(waiting["actionId"]);
    const ends = world.transcript.filter((line) => line["type"] === "turn_ended").map((line) => line["stopReason"]);
    expect(ends).toEqual(["end_turn", "interrupted", "end_turn"]);
  });

  it("says that the session's directory is missing", async () => {
    rmSync(world.cwd, { recursive: true });
    await expect(world.launch(program)).rejects.toThrow(`working directory ${world.cwd} is missing`);
  });
});

describe("viewers", () => {
  it("replays, follows, and ends as asked", async () => {
    const worker = await world.launch(program);
    await worker.prompt("echo one");
    const replay = await worker.attach({ follow: false });
    await until("the replay ends", () => replay.ended === "end");
    expect(replay.events).toEqual(world.transcript);
    const live = await worker.attach({ from: String(replay.events.at(-1)?.["cursor"]), follow: true });
    await worker.prompt("echo two");
    await until("the turn's end is seen", () => live.events.some((event) => event["type"] === "turn_ended"));
    expect(live.events).toEqual(world.transcript.slice(replay.events.length));
    const bad = worker.attach({ from: "?", follow: false });
    expect(codeOf(await bad.catch((error: unknown) => error))).toBe("usage");
  });

  it("I149 a flood of output stays bounded in memory, and a viewer that stopped reading stalls nobody", async () => {
    const worker = await world.launch(program);
    const stopped = await worker.attach({ follow: true });
    stopped.socket.pause();
    const live = await worker.attach({ follow: true });
    const { actionId } = await worker.submit("prompt", "head -c 50000000 /dev/zero | tr '\\0' x");
    await until("the turn's end is seen", () => live.events.some((event) => event["type"] === "turn_ended"), 25_000);
    const total = live.events.reduce((sum, { type, text }) => (type === "output" ? sum + String(text).length : sum), 0);
    expect(total).toBe(50_000_000);
    const rss = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${worker.child.pid}/status`, "utf8"))?.[1]) * 1024;
    expect(rss).toBeLessThan(200 * 1024 * 1024);
    stopped.socket.resume();
    await until(
      "the stopped viewer caught up",
      () => stopped.events.some((event) => event["actionId"] === actionId && event["type"] === "turn_ended"),
      25_000,
    );
    expect(stopped.events.length).toBe(live.events.length);
  });
});
