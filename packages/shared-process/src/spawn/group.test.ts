import { describe, expect, it } from "vitest";
import { createObserver, type ObserverOptions } from "../observe/create.ts";
import { FakeProcessTable } from "../testing/index.ts";
import { signalGroupSparing, type SparingOptions } from "./group.ts";

const child = { pid: 42, exitCode: null, signalCode: null };

function group(): FakeProcessTable {
  const table = new FakeProcessTable();
  table.start({ pid: 42, command: "bash" });
  table.start({ pid: 43, command: "holdfastd", ppid: 42, pgrp: 42 });
  table.start({ pid: 44, command: "mkfifo", ppid: 43, pgrp: 42 });
  table.start({ pid: 45, command: "sleep", ppid: 42, pgrp: 42 });
  table.start({ pid: 46, command: "sleep" });
  return table;
}

type Machine = Pick<ObserverOptions, "mode" | "pidfds">;

/** Spares the daemon, and by default holds the others by pidfd. */
function sparing(ports: FakeProcessTable, machine: Machine = { pidfds: ports.pidfds() }): SparingOptions {
  return { spare: ({ command }) => command === "holdfastd", observer: createObserver({ ports, ...machine }), ports };
}

/** The member ends, and its number is given to a stranger of the same start tick. */
const giveAway = (table: FakeProcessTable): void => void table.start({ pid: 45, command: "stranger" });

describe("signalGroupSparing", () => {
  it("I153 signals each member but the spared one and what runs below it", async () => {
    const table = group();
    const outcome = await signalGroupSparing(child, "SIGKILL", sparing(table));
    expect(outcome).toMatchObject({ kind: "sent" });
    expect(table.delivered.map(({ pid }) => pid)).toEqual([45, 42]);
  });

  it("is one signal to the group when nobody is spared", async () => {
    const table = group();
    const calls: string[] = [];
    table.beforeCall = (call) => void (call.includes("SIGTERM") && calls.push(call));
    await signalGroupSparing(child, "SIGTERM", { ...sparing(table), spare: () => false });
    expect(calls).toEqual(["kill -42 SIGTERM"]);
  });

  it("I134 signals the leader alone when processes cannot be listed", async () => {
    const table = group();
    table.files.set("/proc", "!EMFILE");
    await signalGroupSparing(child, "SIGTERM", sparing(table));
    expect(table.delivered.map(({ pid }) => pid)).toEqual([42]);
  });

  it("I89 sends nothing once the leader is reaped: the number may be another group's", async () => {
    const table = group();
    const reaped = { ...child, exitCode: 0 };
    const outcome = await signalGroupSparing(reaped, "SIGTERM", sparing(table));
    expect(outcome).toMatchObject({ kind: "not-sent" });
    expect(table.delivered).toEqual([]);
  });

  it.each(["pidfd_open 45", "pidfd_send_signal 45 SIGKILL process"])(
    "I131 sends nothing to whoever has a member's number since %s",
    async (moment) => {
      const table = group();
      const pidfds = table.pidfds();
      table.beforeCall = (call) => void (call === moment && giveAway(table));
      await signalGroupSparing(child, "SIGKILL", sparing(table, { pidfds }));
      expect(table.delivered.map(({ pid }) => pid)).toEqual([42]);
      expect(pidfds.openCount).toBe(0);
    },
  );

  it("looks and kills in one turn in narrow mode without the library", async () => {
    const table = group();
    await signalGroupSparing(child, "SIGKILL", sparing(table, { mode: "narrow" }));
    expect(table.delivered.map(({ pid }) => pid)).toEqual([45, 42]);
    expect(table.openCount).toBe(0);
  });

  it("I131 signals no member but its own child in refuse mode without the library", async () => {
    const table = group();
    const outcome = await signalGroupSparing(child, "SIGKILL", sparing(table, { mode: "refuse" }));
    expect(outcome).toEqual({ kind: "sent", via: "unreaped-child" });
    expect(table.delivered.map(({ pid }) => pid)).toEqual([42]);
  });
});
