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

  it("I163 takes a FIFO that nobody holds here for no proof of what runs on another machine", async () => {
    const { observer, identity, lifelinePath } = await recorded("narrow");
    const foreign = { ...identity, machineId: "another" };
    expect(verdictOf(observer, { identity: foreign, lifelinePath })).toEqual({ kind: "unknown", why: "other-host" });
  });
});
