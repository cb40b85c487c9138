import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { systemClock } from "@holdfast/shared-process";
import type { Clock } from "@holdfast/shared-process";
import type { Agent, AgentHost, TurnEnd } from "../agents/agent.ts";
import { openSessionStore, requestHash } from "../transport/index.ts";
import type { SessionStore, SubmitParams } from "../transport/index.ts";
import { Session } from "./session.ts";

/** Does what the test says: turns run until the test ends them. */
class ScriptedAgent implements Agent {
  readonly pid = null;
  readonly runs: string[] = [];
  readonly injected: string[] = [];
  readonly host: AgentHost;
  readonly cancels: string[] = [];
  accepts = true;

  constructor(host: AgentHost) {
    this.host = host;
  }
  start(): Promise<{ kind: "started" }> {
    return Promise.resolve({ kind: "started" });
  }
  run(turnId: string): void {
    this.runs.push(turnId);
  }
  inject(_turnId: string, text: string): boolean {
    if (this.accepts) this.injected.push(text);
    return this.accepts;
  }
  cancel(turnId: string): void {
    this.cancels.push(turnId);
  }
  end(): Promise<void> {
    return Promise.resolve();
  }
}

let directory: string;
let full: boolean;
let ahead: number;
let store: SessionStore;
let agent: ScriptedAgent;
let session: Session;

const disk: FileSystem = {
  ...nodeFileSystem,
  write: (...call) => {
    if (full) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    return nodeFileSystem.write(...call);
  },
};
/** Retries come at once. */
const clock: Clock = {
  now: () => systemClock.now() + ahead,
  monotonic: () => systemClock.monotonic(),
  setTimer: (_delayMs, callback) => systemClock.setTimer(0, callback),
};

beforeEach(async () => {
  full = false;
  ahead = 0;
  directory = mkdtempSync(join(tmpdir(), "holdfast-session-"));
  const opened = await openSessionStore({
    directory,
    sessionId: "s1",
    owner: { generation: "g1", identity: {} },
    probeOwner: () => "gone",
    engine: "inline",
    fs: disk,
  });
  if (opened.kind !== "opened") throw new Error(opened.kind);
  ({ store } = opened);
  const created: ScriptedAgent[] = [];
  const createAgent = (host: AgentHost): Agent => {
    const made = new ScriptedAgent(host);
    created.push(made);
    return made;
  };
  session = new Session({ store, clock, createAgent, onChange: () => undefined });
  const [made] = created;
  if (!made) throw new Error("no agent");
  agent = made;
});
afterEach(async () => {
  full = false;
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

let count = 0;
const params = (kind: SubmitParams["kind"], more: Partial<SubmitParams> = {}): SubmitParams => {
  count += 1;
  const text = `text ${count}`;
  return { requestId: `r${count}`, hash: requestHash(kind, { text }), kind, text, ...more };
};
const until = async (look: () => boolean): Promise<void> => {
  const deadline = performance.now() + 5_000;
  while (!look()) {
    if (performance.now() > deadline) throw new Error("it did not come about");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
};
const run = async (kind: SubmitParams["kind"] = "prompt"): Promise<string> => {
  const { actionId } = await session.submit(params(kind));
  await until(() => agent.runs.includes(actionId));
  return actionId;
};
const end: TurnEnd = { stopReason: "end_turn", exitCode: 0, cwd: "/" };
const transcript = (): string => readFileSync(join(directory, "transcript.jsonl"), "utf8");

describe("a session", () => {
  it("I68 is busy until the turn's end is settled", async () => {
    const actionId = await run();
    expect(session.report).toMatchObject({ activity: "working", openOperations: 1 });
    agent.host.ended(actionId, end);
    await until(() => session.isIdle);
    expect(session.report).toMatchObject({ activity: "idle", openOperations: 0, degraded: null });
    expect(transcript()).toContain('"cwd":"/"');
  });

  it("turns a steer that came too late into a turn of its own, dispatched once", async () => {
    const first = await run();
    agent.accepts = false;
    const steer = params("steer");
    const answer = await session.submit(steer);
    expect(answer.status).toBe("queued");
    agent.host.ended(first, end);
    await until(() => agent.runs.includes(answer.actionId));
    expect(await session.submit(steer)).toEqual(answer);
    agent.host.ended(answer.actionId, end);
    await until(() => session.isIdle);
    expect(await session.submit(steer)).toEqual(answer);
  });

  it("I143 answers the repeat of a steer with what it did", async () => {
    await run();
    const steer = params("steer");
    const answer = await session.submit(steer);
    expect(answer.status).toBe("injected");
    expect(agent.injected).toEqual([steer.text]);
    await until(() => store.actions().length === 1);
    expect(await session.submit(steer)).toEqual(answer);
    expect((await session.submit(params("steer", { interrupt: true }))).status).toBe("interrupted");
    expect(agent.cancels).toHaveLength(1);
  });

  it("I141 loses no output and no end on a full disk, says so, refuses new work, and goes on by itself", async () => {
    const actionId = await run();
    full = true;
    const recorded = agent.host.record([{ type: "output", stream: "stdout", text: "precious" }]);
    await until(() => session.report.degraded === "disk_full");
    await expect(session.submit(params("prompt"))).rejects.toMatchObject({ code: "disk_full" });
    full = false;
    await recorded;
    expect(session.report.degraded).toBeNull();
    expect(transcript().split("precious")).toHaveLength(2);
    full = true;
    agent.host.ended(actionId, end);
    await until(() => session.report.degraded === "disk_full");
    full = false;
    await until(() => session.isIdle);
    expect(transcript().split('"turn_ended"')).toHaveLength(2);
  });

  it("I125 closed: refuses, ends the turn as it was told, starts nothing more", async () => {
    const actionId = await run();
    const waiting = await session.submit(params("follow_up"));
    session.close("interrupted");
    expect(agent.cancels).toEqual([actionId]);
    await expect(session.submit(params("prompt"))).rejects.toMatchObject({ code: "session_stopping" });
    agent.host.ended(actionId, { stopReason: "cancelled" });
    await until(() => !session.hasTurn);
    expect(transcript()).toContain('"stopReason":"interrupted"');
    expect(store.actions().map((action) => action.actionId)).toEqual([waiting.actionId]);
    expect(agent.runs).toEqual([actionId]);
  });

  it("was last active with its last work: what ends it is none", async () => {
    const before = session.report.lastActivityAt;
    ahead = 60_000;
    agent.host.ended(await run(), end);
    await until(() => session.isIdle);
    const { lastActivityAt } = session.report;
    expect(lastActivityAt).toBeGreaterThanOrEqual(before + ahead);
    ahead = 120_000;
    session.close("cancelled");
    expect(session.report.lastActivityAt).toBe(lastActivityAt);
  });

  it("refuses what cannot be run or would be too much to queue", async () => {
    await run();
    await expect(session.submit(params("prompt", { text: "a\0" }))).rejects.toMatchObject({ code: "usage" });
    await expect(session.submit(params("prompt", { text: "x".repeat(17 << 20) }))).rejects.toMatchObject({
      code: "usage",
    });
    await session.submit(params("prompt", { text: "x".repeat(5 << 20) }));
    await expect(session.submit(params("prompt", { text: "x".repeat(5 << 20) }))).rejects.toMatchObject({
      code: "capacity",
    });
  });
});

it("I143 a repeated cancel is one cancel; another one by its own id is stronger", async () => {
  await session.submit(params("prompt"));
  await until(() => agent.runs.length === 1);
  const first = session.cancel({ requestId: "c1", hash: "h" });
  await Promise.all([first, session.cancel({ requestId: "c1", hash: "h" })]);
  expect(agent.cancels).toHaveLength(1);
  await session.cancel({ requestId: "c2", hash: "h" });
  expect(agent.cancels).toHaveLength(2);
});
