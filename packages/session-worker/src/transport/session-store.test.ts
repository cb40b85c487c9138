import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { digestOf, nodeFileSystem, openJournal, quarantineJournal } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { openSessionStore, requestHash } from "./index.ts";
import type { Admission, SessionStore } from "./index.ts";
import { operationKinds } from "./operation-kinds.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-store-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function open(generation: string, fs: FileSystem = nodeFileSystem): Promise<SessionStore> {
  const opened = await openSessionStore({
    directory,
    sessionId: "s1",
    owner: { generation, identity: {} },
    probeOwner: () => "gone",
    engine: "inline",
    fs,
  });
  if (opened.kind !== "opened") throw new Error(JSON.stringify(opened));
  return opened.store;
}

const admission = (requestId: string, text = `echo ${requestId}`): Admission => ({
  requestId,
  hash: requestHash("session/prompt", { text }),
  kind: "prompt",
  text,
});

async function accepted(store: SessionStore, requestId: string, text?: string): Promise<string> {
  const result = await store.admit(admission(requestId, text));
  if (result.kind !== "accepted") throw new Error(result.kind);
  return result.action.actionId;
}

const parseLine = (line: string): Record<string, unknown> => Object(JSON.parse(line));
const transcript = (): Record<string, unknown>[] =>
  readFileSync(join(directory, "transcript.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map(parseLine);
const types = (): unknown[] => transcript().map(({ type }) => type);
const path = (): string => join(directory, "transcript.jsonl");

describe("a session's store", () => {
  it("I67 I68 I161 restores accepted actions in order under their ids, and dispatched ones as dispatched", async () => {
    const first = await open("g1");
    const [a, b, c] = [await accepted(first, "r1"), await accepted(first, "r2"), await accepted(first, "r3")];
    await first.dispatch(a);
    await first.settle(b, { outcome: "cancelled" });
    const second = await open("g2");
    expect(second.actions().map(({ actionId, phase, text }) => [actionId, phase, text])).toEqual([
      [a, "dispatched", "echo r1"],
      [c, "accepted", "echo r3"],
    ]);
    await expect(second.dispatch(a)).rejects.toThrow("I161");
  });

  it.each([
    ["a hole", (line: string) => line.replace(/"actionId":"[^"]*"/, (part) => "\0".repeat(part.length))],
    ["other damage", (line: string) => line.replace('"actionId"', '"actionId')],
  ])("I142 opens over a line with %s behind its head", async (_what, damage) => {
    const first = await open("g1");
    const a = await accepted(first, "r1");
    const line = JSON.stringify({ cursor: "g1:2", type: "prompt_accepted", actionId: "lost", requestId: "r2" });
    appendFileSync(path(), `${damage(line)}\n`);
    const second = await open("g2");
    expect(second.actions().map(({ actionId }) => actionId)).toEqual([a]);
    expect(second.append({ type: "state", state: "stopped" }).cursor).toBe("g2:3");
  });

  it("I161 does not dispatch again what the transcript shows as started, even if the journal forgot its dispatch", async () => {
    const first = await open("g1");
    const a = await accepted(first, "r1");
    first.append({ type: "turn_started", turnId: a, actionId: a });
    const second = await open("g2");
    expect(second.actions()).toMatchObject([{ actionId: a, phase: "dispatched" }]);
    expect((await second.settleInterrupted()).map(({ actionId }) => actionId)).toEqual([a]);
  });

  it("gives with an acceptance the cursor before notices that came since the last one", async () => {
    const store = await open("g1");
    await accepted(store, "r1");
    const before = store.endCursor;
    store.append({ type: "restored", by: "fresh", notice: "variables are lost" });
    const next = await store.admit(admission("r2"));
    expect(next).toMatchObject({ kind: "accepted", cursor: before });
    expect(await store.admit(admission("r3"))).toMatchObject({ cursor: "g1:3" });
  });

  it("I140 does not say of a turn whose end was cut off that it was never admitted", async () => {
    const first = await open("g1");
    const a = await accepted(first, "r1");
    await first.dispatch(a);
    first.append({ type: "turn_started", turnId: a, actionId: a });
    first.append({ type: "turn_ended", turnId: a, actionId: a, stopReason: "end_turn", exitCode: 0 });
    await first.settle(a, { outcome: "ended", stopReason: "end_turn", exitCode: 0 });
    await first.close();
    truncateSync(path(), statSync(path()).size - 7);
    await open("g2");
    expect(transcript().at(-1)).toMatchObject({ type: "turn_ended", actionId: a, stopReason: "interrupted" });
  });

  it("I155 an opening that fails leaves no descriptor open", async () => {
    const first = await open("g1");
    first.append({ type: "prompt_accepted", actionId: "a", kind: "prompt", text: "x", requestId: "r" });
    await first.close();
    const transcriptInode = statSync(path()).ino;
    const refusing: FileSystem = {
      ...nodeFileSystem,
      write: (fd, ...rest) => {
        if (Number(nodeFileSystem.fstat(fd).ino) === transcriptInode)
          throw Object.assign(new Error("full"), { code: "ENOSPC" });
        return nodeFileSystem.write(fd, ...rest);
      },
    };
    const before = readdirSync("/proc/self/fd").length;
    for (let round = 0; round < 5; round += 1)
      await expect(open(`g${round + 2}`, refusing)).rejects.toMatchObject({ code: "disk_full" });
    expect(readdirSync("/proc/self/fd")).toHaveLength(before);
  });

  it("I66 I136 marks a dispatched action as interrupted once, whatever dies in between", async () => {
    const first = await open("g1");
    const a = await accepted(first, "r1");
    await first.dispatch(a);
    const second = await open("g2");
    expect((await second.settleInterrupted()).map(({ actionId }) => actionId)).toEqual([a]);
    expect(await second.settleInterrupted()).toEqual([]);
    const third = await open("g3");
    expect(third.actions()).toEqual([]);
    expect(await third.settleInterrupted()).toEqual([]);
    expect(types()).toEqual(["prompt_accepted", "interrupted", "turn_ended"]);
    expect(transcript()[2]).toMatchObject({ actionId: a, stopReason: "interrupted" });
  });

  it("I136 says nothing again for an action whose end stands in the transcript", async () => {
    const first = await open("g1");
    const a = await accepted(first, "r1");
    const b = await accepted(first, "r2");
    await first.dispatch(a);
    await first.dispatch(b);
    first.append({ type: "turn_ended", turnId: a, actionId: a, stopReason: "end_turn" });
    first.append({ type: "interrupted", operations: [{ operationId: b, kind: "prompt", title: "" }] });
    await first.sync();
    const second = await open("g2");
    expect((await second.settleInterrupted()).map(({ actionId }) => actionId)).toEqual([b]);
    expect(types().slice(2)).toEqual(["turn_ended", "interrupted", "turn_ended"]);
    expect(second.actions()).toEqual([]);
  });

  it("I125 keeps a waiting action cancelled when the crash came before its journal end", async () => {
    const first = await open("g1");
    const a = await accepted(first, "r1");
    first.append({ type: "action_cancelled", actionId: a, reason: "cancelled" });
    await first.sync();
    const second = await open("g2");
    expect(second.actions()).toEqual([]);
    expect(types()).toEqual(["prompt_accepted", "action_cancelled"]);
  });

  it("says of an accepted line without its journal record that it was never admitted, once", async () => {
    const first = await open("g1");
    first.append({ type: "prompt_accepted", actionId: "lost", kind: "prompt", text: "x", requestId: "r1" });
    const kept = await accepted(first, "r2");
    const second = await open("g2");
    expect(second.actions().map(({ actionId }) => actionId)).toEqual([kept]);
    await open("g3");
    expect(types()).toEqual(["prompt_accepted", "prompt_accepted", "action_cancelled"]);
    expect(transcript()[2]).toMatchObject({ actionId: "lost", reason: "not admitted" });
  });

  it("finds a line that was never admitted behind a recovery that was cut short", async () => {
    const first = await open("g1");
    for (const actionId of ["lost1", "lost2"])
      first.append({ type: "prompt_accepted", actionId, kind: "prompt", text: "x", requestId: actionId });
    await first.close();
    const line = {
      cursor: "g2:3",
      type: "action_cancelled",
      at: "",
      sessionId: "s1",
      actionId: "lost1",
      reason: "not admitted",
    };
    appendFileSync(path(), `${JSON.stringify(line)}\n`);
    await open("g3");
    expect(
      transcript()
        .slice(2)
        .map(({ actionId }) => actionId),
    ).toEqual(["lost1", "lost2"]);
  });

  it("I143 answers a repeat with the first outcome and refuses other content under a used id", async () => {
    const first = await open("g1");
    const a = await accepted(first, "r1");
    expect(await first.admit(admission("r1"))).toMatchObject({ kind: "repeated", actionId: a, settled: null });
    expect(await first.admit(admission("r1", "other"))).toEqual({ kind: "reused" });
    first.append({ type: "turn_ended", turnId: a, actionId: a, stopReason: "end_turn", exitCode: 3 });
    await first.settle(a, { outcome: "ended", stopReason: "end_turn", exitCode: 3, steer: "queued" });
    await first.close();
    const second = await open("g2");
    expect(await second.admit(admission("r1"))).toEqual({
      kind: "repeated",
      actionId: a,
      cursor: "start",
      settled: { outcome: "ended", stopReason: "end_turn", exitCode: 3, steer: "queued" },
    });
    expect(second.remembers).toBe(true);
    expect(types()).toEqual(["prompt_accepted", "turn_ended"]);
  });

  it("I143 admits one of many concurrent sends of the same request", async () => {
    const store = await open("g1");
    const results = await Promise.all(Array.from({ length: 20 }, () => store.admit(admission("r1"))));
    expect(results.filter(({ kind }) => kind === "accepted")).toHaveLength(1);
    expect(
      new Set(
        results.map((result) =>
          result.kind === "accepted" ? result.action.actionId : "actionId" in result && result.actionId,
        ),
      ).size,
    ).toBe(1);
    expect(types()).toEqual(["prompt_accepted"]);
  });

  it("shares flushes between concurrent admissions", async () => {
    let flushes = 0;
    const counting = { ...nodeFileSystem, fdatasync: (fd: number) => (flushes++, nodeFileSystem.fdatasync(fd)) };
    const store = await open("g1", counting);
    flushes = 0;
    await Promise.all(Array.from({ length: 64 }, (_, n) => store.admit(admission(`r${n}`))));
    expect(flushes).toBeLessThanOrEqual(4);
    expect(store.actions().map(({ requestId }) => requestId)).toEqual(Array.from({ length: 64 }, (_, n) => `r${n}`));
  });

  it("I140 cancels, visibly, an accepted action whose text is lost", async () => {
    const first = await open("g1");
    const a = await accepted(first, "r1");
    writeFileSync(path(), "");
    const second = await open("g2");
    expect(second.actions()).toEqual([]);
    expect(transcript()).toMatchObject([{ type: "action_cancelled", actionId: a, reason: "its text is lost" }]);
  });

  it("I162 cancels everything accepted, visibly, and keeps what is dispatched", async () => {
    const store = await open("g1");
    const a = await accepted(store, "r1");
    const b = await accepted(store, "r2");
    await store.dispatch(a);
    await store.cancelAll("stopped");
    expect(store.actions().map(({ actionId }) => actionId)).toEqual([a]);
    expect(transcript().at(-1)).toMatchObject({ type: "action_cancelled", actionId: b, reason: "stopped" });
  });

  it("I72 ignores the end of an unknown action", async () => {
    const store = await open("g1");
    await store.settle("nobody", { outcome: "ended" });
    expect(types()).toEqual([]);
  });

  it("I144 has one writer: a living owner keeps the session, a released one does not", async () => {
    const first = await open("g1");
    const options = { directory, sessionId: "s1", engine: "inline" as const, probeOwner: () => "current" as const };
    expect(await openSessionStore({ ...options, owner: { generation: "g2", identity: {} } })).toEqual({
      kind: "owned",
    });
    await first.close();
    await first.close();
    expect(await openSessionStore({ ...options, owner: { generation: "g2", identity: {} } })).toMatchObject({
      kind: "opened",
    });
  });

  it("I141 refuses visibly on a full disk, admits again once there is room, and loses nothing acknowledged", async () => {
    let full = false;
    const limited: FileSystem = {
      ...nodeFileSystem,
      write: (...call) => {
        if (full) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
        return nodeFileSystem.write(...call);
      },
    };
    const store = await open("g1", limited);
    const a = await accepted(store, "r1");
    full = true;
    await expect(store.admit(admission("r2"))).rejects.toMatchObject({ code: "disk_full" });
    expect(() => store.append({ type: "message", text: "x" })).toThrow("full");
    full = false;
    const b = await accepted(store, "r2");
    expect(store.actions().map(({ actionId }) => actionId)).toEqual([a, b]);
    expect((await open("g2")).actions().map(({ actionId }) => actionId)).toEqual([a, b]);
  });

  it("I152 keeps prompt text in the 0600 transcript alone", async () => {
    const store = await open("g1");
    await accepted(store, "r1", "very secret");
    await store.close();
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    for (const name of nodeFileSystem.readdir(join(directory, "journal")))
      expect(readFileSync(join(directory, "journal", name), "utf8")).not.toContain("very secret");
  });

  it("I143 answers the same request asked twice at once as first and as repeated", async () => {
    const store = await open("g1");
    const cancel = { requestId: "c1", hash: "h" };
    const answers = await Promise.all([
      store.once(cancel),
      store.once(cancel),
      store.once({ ...cancel, hash: "other" }),
      store.admit({ ...admission("c1"), hash: "other" }),
    ]);
    expect(answers).toEqual(["first", "repeated", "reused", { kind: "reused" }]);
    await store.close();
  });

  it("I143 answers the others when the first of the same requests cannot be written", async () => {
    let isFull = false;
    const filling: FileSystem = Object.create(nodeFileSystem, {
      write: {
        value: (...[fd, buffer, ...place]: Parameters<FileSystem["write"]>) => {
          if (!isFull || !Buffer.from(buffer).includes('"request"')) return nodeFileSystem.write(fd, buffer, ...place);
          isFull = false;
          throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
        },
      },
    });
    const store = await open("g1", filling);
    isFull = true;
    const cancel = { requestId: "c1", hash: "h" };
    const [first, ...others] = await Promise.allSettled(Array.from({ length: 4 }, () => store.once(cancel)));
    expect(first).toMatchObject({ status: "rejected", reason: { code: "disk_full" } });
    expect(others.map((other) => other.status === "fulfilled" && other.value)).toEqual([
      "first",
      "repeated",
      "repeated",
    ]);
    await store.close();
  });

  it("I71 is not refused for good where the disk does not let its journal be read", async () => {
    const store = await open("g1");
    await store.close();
    const failing: FileSystem = Object.create(nodeFileSystem, {
      read: {
        value: () => {
          throw Object.assign(new Error("EIO: i/o error, read"), { code: "EIO", syscall: "read" });
        },
      },
    });
    await expect(open("g2", failing)).rejects.toThrow('"mayPass":true');
    await (await open("g3")).close();
  });

  it("I71 I81 is refused while the journal has a quarantine that is not resolved, and serves once it is", async () => {
    const store = await open("g1");
    await accepted(store, "r1");
    await store.close();
    const before = readFileSync(path(), "utf8");
    const journal = join(directory, "journal");
    const segment = join(journal, readdirSync(journal)[0] ?? "");
    writeFileSync(segment, "x");
    const common = { directory: journal, kinds: operationKinds, probeOwner: () => "gone" as const };
    const seen = { why: "corrupt" as const, path: segment, sha256: digestOf(segment) };
    const doctor = { ...common, owner: { generation: "doctor", identity: {} } };
    const { kind } = await quarantineJournal({ ...doctor, seen, reason: "damaged" });
    expect(kind).toBe("quarantined");
    for (const generation of ["g2", "g3"]) await expect(open(generation)).rejects.toThrow("is not resolved");
    expect(readFileSync(path(), "utf8")).toBe(before);

    const opened = await openJournal(doctor);
    if (opened.kind !== "opened") throw new Error(opened.kind);
    const [quarantine] = opened.journal.quarantines();
    await opened.journal.resolveQuarantine(quarantine?.id ?? "", { decision: "nothing was under way" });
    await opened.journal.close();
    expect((await open("g4")).actions()).toEqual([]);
    expect(readdirSync(journal)).toContain(quarantine?.evidence);
  });

  it("works with flushes outside the loop", async () => {
    const opened = await openSessionStore({
      directory,
      sessionId: "s1",
      owner: { generation: "g1", identity: {} },
      probeOwner: () => "gone",
      engine: "pool",
    });
    if (opened.kind !== "opened") throw new Error(opened.kind);
    await Promise.all([opened.store.admit(admission("r1")), opened.store.admit(admission("r2"))]);
    await opened.store.close();
    expect((await open("g2")).actions()).toHaveLength(2);
  });
});
