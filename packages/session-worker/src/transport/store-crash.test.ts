import { describe, expect, it } from "vitest";
import { syncDirectory } from "@holdfast/recovery-journal";
import { SimulatedDisk } from "@holdfast/recovery-journal/testing";
import { CodedError } from "@holdfast/shared-process";
import { openSessionStore, readTranscript, requestHash } from "./index.ts";
import type { Admission, SessionStore } from "./index.ts";

const DIRECTORY = "/s1";
const PATH = `${DIRECTORY}/transcript.jsonl`;

function emptyDisk(): SimulatedDisk {
  const disk = new SimulatedDisk();
  disk.mkdir(DIRECTORY, 0o700);
  syncDirectory(disk, "/");
  return disk;
}

async function open(disk: SimulatedDisk, generation: string): Promise<SessionStore> {
  const opened = await openSessionStore({
    directory: DIRECTORY,
    sessionId: "s1",
    owner: { generation, identity: {} },
    probeOwner: () => "gone",
    engine: "inline",
    fs: disk,
  });
  if (opened.kind !== "opened") throw new Error(JSON.stringify(opened));
  return opened.store;
}

const admission = (requestId: string): Admission => ({
  requestId,
  hash: requestHash("session/prompt", { text: requestId }),
  kind: "prompt",
  text: requestId,
});

type Known = "asked" | "accepted" | "dispatching" | "dispatched" | "settling" | "settled";
interface Fact {
  readonly requestId: string;
  readonly actionId: string;
  readonly known: Known;
}

/** What the store must say of an action, given what its caller was told before the crash. */
const allowed: Record<Known, readonly string[]> = {
  asked: ["accepted", "gone"],
  accepted: ["accepted"],
  dispatching: ["accepted", "dispatched"],
  dispatched: ["dispatched"],
  settling: ["dispatched", "gone"],
  settled: ["gone"],
};

/** Runs two actions, one to its end, and takes every disk that a power cut could leave on the way. */
async function collectCrashes(): Promise<{ disk: SimulatedDisk; facts: readonly Fact[] }[]> {
  const disk = emptyDisk();
  const crashes: { disk: SimulatedDisk; facts: readonly Fact[] }[] = [];
  const facts = new Map<string, Fact>();
  const know = (requestId: string, known: Known, actionId = facts.get(requestId)?.actionId ?? ""): void =>
    void facts.set(requestId, { requestId, actionId, known });
  // Calls that only read leave the disk as the call before found it.
  const changing = new Set(["write", "fdatasync", "fsync", "link", "rename", "unlink", "ftruncate"]);
  disk.onCall = (call) => {
    if (!changing.has(call)) return;
    for (const state of disk.crashStates({ cuts: 1, samples: 0 }))
      crashes.push({ disk: state, facts: [...facts.values()] });
  };
  const store = await open(disk, "g1");
  const admit = async (requestId: string): Promise<string> => {
    know(requestId, "asked");
    const result = await store.admit(admission(requestId));
    if (result.kind !== "accepted") throw new Error(result.kind);
    know(requestId, "accepted", result.action.actionId);
    return result.action.actionId;
  };
  const dispatch = async (requestId: string, actionId: string): Promise<void> => {
    know(requestId, "dispatching");
    await store.dispatch(actionId);
    know(requestId, "dispatched");
  };
  const [a, b] = await Promise.all([admit("r1"), admit("r2")]);
  await dispatch("r1", a);
  store.append({ type: "output", stream: "stdout", text: "x" });
  know("r1", "settling");
  store.append({ type: "turn_ended", turnId: a, actionId: a, stopReason: "end_turn" });
  await store.settle(a, { outcome: "ended" });
  know("r1", "settled");
  await dispatch("r2", b);
  disk.onCall = null;
  return crashes;
}

async function append(disk: SimulatedDisk, generation: string, ...texts: string[]): Promise<void> {
  const store = await open(disk, generation);
  for (const text of texts) store.append({ type: "message", text });
  await store.close();
}

const count = (lines: readonly string[], type: string, actionId: string): number =>
  lines.filter((line) => line.includes(`"type":"${type}"`) && line.includes(actionId)).length;

describe("a session's files after a power cut", () => {
  it(
    "I66 I67 I140 I143 I161 hold what was acknowledged, at whatever call and whatever was not synced",
    { timeout: 60_000 },
    async () => {
      const crashes = await collectCrashes();
      expect(crashes.length).toBeGreaterThan(50);
      for (const { disk, facts } of crashes) {
        const store = await open(disk, "g2");
        const before = new Map(store.actions().map((action) => [action.requestId, action]));
        for (const { requestId, known } of facts)
          expect(allowed[known], `${requestId} ${known}`).toContain(before.get(requestId)?.phase ?? "gone");
        await store.settleInterrupted();
        const again = await open(disk, "g3");
        await again.settleInterrupted();
        const lines = [...readTranscript({ path: PATH, fs: disk })].map(({ line }) => line);
        for (const line of lines.filter((text) => text.includes('"type":"prompt_accepted"'))) {
          const actionId = /"actionId":"([^"]+)"/.exec(line)?.[1] ?? "";
          const ends = count(lines, "turn_ended", actionId) + count(lines, "action_cancelled", actionId);
          // Exactly one end, or it still waits.
          expect(ends).toBe(again.actions().some((action) => action.actionId === actionId) ? 0 : 1);
        }
        for (const { requestId, actionId } of facts.filter(({ known }) => known !== "asked"))
          expect(await again.admit(admission(requestId))).toMatchObject({ kind: "repeated", actionId });
      }
    },
  );

  it("I140 I170 survive truncation at any byte of the last record, NULs and an empty transcript", async () => {
    const replay = (disk: SimulatedDisk, from: string): string[] =>
      [...readTranscript({ path: PATH, from, fs: disk })].map(
        ({ kind, cursor }) => `${kind} ${cursor?.generation}:${cursor?.sequence}`,
      );
    const disk = emptyDisk();
    await append(disk, "g1", "a", "b");
    const whole = disk.contentOf(PATH);
    const lastLine = whole.lastIndexOf("\n", whole.length - 2) + 1;
    for (let length = lastLine; length < whole.length; length += 1) {
      const nuls = Buffer.alloc(length % 2 === 0 ? 0 : whole.length - length);
      disk.plant(PATH, Buffer.concat([whole.subarray(0, length), nuls]));
      await append(disk, `t${length}`, "c");
      expect(replay(disk, "start")).toEqual(["event g1:1", `event t${length}:2`]);
      expect(replay(disk, "g1:2")).toEqual(["gap g1:1", `event t${length}:2`]);
    }
    disk.plant(PATH, Buffer.alloc(0));
    await append(disk, "g2", "c");
    expect(replay(disk, "start")).toEqual(["event g2:1"]);
  });
});

/** A worker that ran an action and died: after its last flush failed, or without one. */
async function diedAtTheEnd(flush: "failed" | "none"): Promise<{ disk: SimulatedDisk; actionId: string }> {
  const disk = emptyDisk();
  const store = await open(disk, "g1");
  const admitted = await store.admit(admission("r1"));
  if (admitted.kind !== "accepted") throw new Error(admitted.kind);
  const { actionId } = admitted.action;
  await store.dispatch(actionId);
  store.append({ type: "turn_ended", turnId: actionId, actionId, stopReason: "end_turn" });
  if (flush === "failed") {
    disk.inject({ call: "fdatasync", errno: "EIO", pathEnds: "transcript.jsonl" });
    await store.sync().catch(() => undefined);
  }
  return { disk, actionId };
}

it.each(["failed", "none"] as const)(
  "I74 I143 an end that is found where the flush behind it %s is on disk before its token goes",
  async (flush) => {
    const { disk, actionId } = await diedAtTheEnd(flush);
    const successor = await open(disk, "g2");
    await successor.settleInterrupted();
    expect(successor.actions()).toEqual([]);
    for (const after of disk.crashStates()) {
      const third = await open(after, "g3");
      const ends = [...readTranscript({ path: PATH, fs: after })].filter(({ line }) => line.includes("turn_ended"));
      expect([third.actions(), ends.map(({ line }) => line.includes(actionId))]).toEqual([[], [true]]);
    }
  },
);

/** An admission whose record is written and not flushed, with what fails of the lines of the transcript behind it. */
async function failing(...calls: ("fdatasync" | "write")[]): Promise<{ disk: SimulatedDisk; code: unknown }> {
  const disk = emptyDisk();
  const store = await open(disk, "g1");
  disk.inject({ call: "fdatasync", errno: "EIO", pathEnds: ".jsonl", nth: 2 });
  let wrote = 0;
  disk.onCall = (call, path) => {
    if (path !== PATH || call !== "write" || (wrote += 1) !== 1) return;
    for (const later of calls) disk.inject({ call: later, errno: "EIO", pathEnds: "transcript.jsonl", nth: 2 });
  };
  const code = await store.admit(admission("r1")).then(
    () => null,
    (error: unknown) => (error instanceof CodedError ? error.code : error),
  );
  disk.onCall = null;
  disk.heal();
  return { disk, code };
}

describe("an admission whose record may be in the journal", () => {
  it("I143 is refused where its cancellation is on disk: nobody finds it accepted", async () => {
    const { disk, code } = await failing();
    expect(code).toBe("journal_poisoned");
    for (const after of disk.crashStates()) expect((await open(after, "g2")).actions()).toEqual([]);
  });

  it.each(["fdatasync", "write"] as const)(
    "I143 is told as unknown where the %s of its cancellation fails, too",
    async (call) => {
      const { disk, code } = await failing(call);
      expect(code).toBe("admission_unknown");
      const found = await Promise.all(
        [...disk.crashStates()].map(async (after) => (await open(after, "g2")).actions()),
      );
      expect(new Set(found.map((actions) => actions.length))).toEqual(new Set([0, 1]));
    },
  );
});
