import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLifeline, createObserver, holdLifeline } from "@holdfast/shared-process";
import { FakeProcessTable } from "@holdfast/shared-process/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { verdictOf } from "./verdict.ts";

const PID = 50;

async function recorded(backend: "narrow" | "pidfd") {
  const folder = mkdtempSync(join(tmpdir(), "hf-verdict-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const lifelinePath = join(folder, "lifeline");
  await createLifeline(lifelinePath);
  const table = new FakeProcessTable();
  table.start({ pid: PID });
  const observer = createObserver({ ports: table, ...(backend === "pidfd" ? { pidfds: table.pidfds() } : {}) });
  const seen = observer.identify(PID);
  if (seen.kind !== "identified") throw new Error(seen.why);
  return { table, observer, lifelinePath, identity: seen.identity };
}

describe("verdictOf", () => {
  it("I131 takes a number and a start tick for nothing where nobody holds the lifeline", async () => {
    const { observer, identity, lifelinePath } = await recorded("narrow");
    expect(verdictOf(observer, { identity, lifelinePath })).toEqual({ kind: "gone", why: "lifeline-released" });
    const held = holdLifeline(lifelinePath);
    onTestFinished(() => held[Symbol.dispose]());
    expect(verdictOf(observer, { identity, lifelinePath })).toEqual({ kind: "current", basis: "start-time" });
  });

  it("I164 takes a released lifeline for the end of what cannot be seen", async () => {
    const { table, observer, identity, lifelinePath } = await recorded("narrow");
    table.change(PID, { unreadable: { stat: "EACCES" } });
    expect(verdictOf(observer, { identity, lifelinePath })).toEqual({ kind: "gone", why: "lifeline-released" });
    expect(verdictOf(observer, { identity, lifelinePath: null })).toMatchObject({ kind: "unknown" });
  });

  it("I16 does not call gone what the kernel's own id proves: its FIFO may have been replaced", async () => {
    const { observer, identity, lifelinePath } = await recorded("pidfd");
    expect(verdictOf(observer, { identity, lifelinePath })).toEqual({ kind: "current", basis: "kernel-id" });
  });

  it("I163 takes a lifeline for nothing where the record is of another machine: its holders are not seen here", async () => {
    const { observer, identity, lifelinePath } = await recorded("narrow");
    const elsewhere = { ...identity, machineId: "of another machine" };
    expect(verdictOf(observer, { identity: elsewhere, lifelinePath })).toEqual({ kind: "unknown", why: "other-host" });
  });

  it("I164 takes a person's word where nothing can be seen, and against nothing that is seen", async () => {
    const { table, observer, identity, lifelinePath } = await recorded("pidfd");
    const asserted = { identity, lifelinePath: null, assertedGone: true };
    expect(verdictOf(observer, asserted)).toEqual({ kind: "current", basis: "kernel-id" });
    const hidden = { ...identity, pidNamespace: "pid:[999]", pidfsInode: null };
    expect(verdictOf(observer, { ...asserted, identity: hidden })).toEqual({ kind: "gone", why: "asserted" });
    expect(verdictOf(observer, { identity: hidden, lifelinePath: null })).toMatchObject({ kind: "unknown" });
    const held = holdLifeline(lifelinePath);
    onTestFinished(() => held[Symbol.dispose]());
    expect(verdictOf(observer, { ...asserted, identity: hidden, lifelinePath })).toMatchObject({ kind: "unknown" });
    expect(table.delivered).toEqual([]);
  });
});
