import { describe, expect, it } from "vitest";
import { createObserver } from "../observe/create.ts";
import { FakeProcessTable } from "../testing/index.ts";
import { endTree } from "./end.ts";
import { end, environment, marker } from "./tree.testing.ts";

describe("endTree by a marker", () => {
  it("I145 ends marked processes with SIGTERM and touches nothing else", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment });
    table.start({ pid: 21, environment });
    table.start({ pid: 22, environment: { HOLDFAST_SESSION: "s2" } });
    const report = await end(table);
    expect(report).toMatchObject({ ended: 2, kept: [], remaining: [], scan: "complete" });
    expect(report.tookMs).toBeLessThan(200);
    expect(table.delivered).toEqual([
      { pid: 20, signal: "SIGTERM" },
      { pid: 21, signal: "SIGTERM" },
    ]);
  });

  it("needs two empty scans in a row, so it gets what is forked meanwhile", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment });
    let forked = false;
    table.beforeCall = (call) => {
      if (call !== "kill 20 SIGTERM" || forked) return;
      forked = true;
      table.start({ pid: 30, environment });
    };
    expect(await end(table)).toMatchObject({ ended: 2, remaining: [] });
  });

  it("kills after the grace, not before, what ignores SIGTERM", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment, ignores: ["SIGTERM"] });
    const killedAt: number[] = [];
    const report = await end(table, {}, (elapsedMs) => {
      if (killedAt.length === 0 && table.delivered.some(({ signal }) => signal === "SIGKILL")) killedAt.push(elapsedMs);
    });
    expect(report).toMatchObject({ ended: 1, remaining: [] });
    expect(killedAt[0]).toBeGreaterThanOrEqual(500);
    expect(killedAt[0]).toBeLessThan(600);
  });

  it("is bounded: what cannot be killed remains in the report", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment, ignores: ["SIGTERM", "SIGKILL"] });
    table.start({ pid: 21, environment, foreign: true });
    const report = await end(table);
    expect(report.remaining.map(({ identity }) => identity.pid)).toEqual([20, 21]);
    expect(report.ended).toBe(0);
    expect(report.tookMs).toBeLessThanOrEqual(3_600);
    expect(table.delivered.every(({ pid }) => pid === 20)).toBe(true);
  });

  it.each([undefined, null, Number.NaN, -1, Number.POSITIVE_INFINITY, "500"])(
    "I149 refuses a time that would never be up, before anybody is signalled: %s",
    async (ms) => {
      const table = new FakeProcessTable();
      table.start({ pid: 20, environment });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as from a program without types
      const bad = ms as number;
      const broken = { code: "invariant_broken" };
      const known = { marker, ports: table, observer: createObserver({ mode: "narrow", ports: table }) };
      await expect(endTree({ ...known, graceMs: bad })).rejects.toMatchObject(broken);
      await expect(endTree({ ...known, graceMs: 0, lastRoundsMs: bad ?? Number.NaN })).rejects.toMatchObject(broken);
      expect(table.delivered).toEqual([]);
    },
  );

  it("leaves kept programs unless forced", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, command: "tmux: server", environment });
    table.start({ pid: 21, command: "sh", environment });
    const report = await end(table);
    expect(report).toMatchObject({ ended: 1, remaining: [], kept: [{ command: "tmux: server" }] });
    expect(await end(table, { force: true })).toMatchObject({ ended: 1, kept: [], remaining: [] });
  });

  it("I153 never touches what is spared, not even by force", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, command: "holdfastd", environment });
    table.start({ pid: 21, ppid: 20, environment });
    table.start({ pid: 22, environment });
    const report = await end(table, { spare: ({ command }) => command === "holdfastd", force: true });
    expect(report).toMatchObject({ ended: 1, kept: [], remaining: [] });
    expect(table.delivered.map(({ pid }) => pid)).toEqual([22]);
  });

  it("I131 re-checks the environment directly before each signal", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment });
    let reads = 0;
    table.beforeCall = (call) => {
      // The number goes to a stranger with the same start tick between the scan and the signal.
      if (call === "/proc/20/environ" && ++reads === 2) table.start({ pid: 20, command: "stranger" });
    };
    expect(await end(table)).toMatchObject({ remaining: [] });
    expect(table.delivered).toEqual([]);
  });

  it("I103 looks at the cancellation after each wait and sends nothing more", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment, ignores: ["SIGTERM"] });
    const abort = new AbortController();
    const report = await end(table, { abort: abort.signal }, (elapsedMs) => {
      if (elapsedMs >= 100) abort.abort();
    });
    expect(report).toMatchObject({ ended: 0, remaining: [{ command: "node" }] });
    expect(report.tookMs).toBeLessThan(200);
    expect(table.delivered).toEqual([{ pid: 20, signal: "SIGTERM" }]);
  });

  it("I134 signals nothing in refuse mode and says what is left", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment });
    const report = await end(table, { observer: createObserver({ ports: table }) });
    expect(report.remaining).toHaveLength(1);
    expect(table.delivered).toEqual([]);
  });

  it("does not call a blind scan complete", async () => {
    const table = new FakeProcessTable();
    table.files.set("/proc", "!EMFILE");
    expect(await end(table)).toMatchObject({ ended: 0, remaining: [], scan: "incomplete" });
  });
});
