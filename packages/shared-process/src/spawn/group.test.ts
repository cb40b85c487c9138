import { describe, expect, it } from "vitest";
import { FakeProcessTable } from "../testing/index.ts";
import { signalGroupSparing } from "./group.ts";

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

describe("signalGroupSparing", () => {
  it("I153 signals each member but the spared one and what runs below it", async () => {
    const table = group();
    const outcome = await signalGroupSparing(child, "SIGKILL", ({ command }) => command === "holdfastd", table);
    expect(outcome).toMatchObject({ kind: "sent" });
    expect(table.delivered.map(({ pid }) => pid)).toEqual([45, 42]);
  });

  it("is one signal to the group when nobody is spared", async () => {
    const table = group();
    const calls: string[] = [];
    table.beforeCall = (call) => void (call.includes("SIGTERM") && calls.push(call));
    await signalGroupSparing(child, "SIGTERM", () => false, table);
    expect(calls).toEqual(["kill -42 SIGTERM"]);
  });

  it("I134 signals the leader alone when processes cannot be listed", async () => {
    const table = group();
    table.files.set("/proc", "!EMFILE");
    await signalGroupSparing(child, "SIGTERM", () => false, table);
    expect(table.delivered.map(({ pid }) => pid)).toEqual([42]);
  });

  it("I89 sends nothing once the leader is reaped: the number may be another group's", async () => {
    const table = group();
    const reaped = { ...child, exitCode: 0 };
    const outcome = await signalGroupSparing(reaped, "SIGTERM", ({ command }) => command === "holdfastd", table);
    expect(outcome).toMatchObject({ kind: "not-sent" });
    expect(table.delivered).toEqual([]);
  });
});
