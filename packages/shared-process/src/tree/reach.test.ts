import { describe, expect, it } from "vitest";
import { type Evidence, reach, type ReachInput } from "./reach.ts";
import type { Row } from "./table.ts";

const SELF = 10;

interface Process {
  readonly pid: number;
  readonly ppid?: number;
  readonly session?: number;
  readonly group?: number;
  readonly state?: string;
  readonly command?: string;
}

function rowOf({ pid, ppid = 1, session = pid, group = session, state = "S", command = "node" }: Process): Row {
  const rest = {
    userTicks: 0,
    systemTicks: 0,
    threads: 1,
    startTicks: "1",
    residentPages: 0,
    exitSignal: 17,
    exitStatus: null,
  };
  return { stat: { pid, ppid, session, pgrp: group, state, command, ...rest }, marked: false };
}

const texts = (map: ReadonlyMap<number, Evidence>): string[] => [...map].map(([pid, { kind }]) => `${pid} ${kind}`);

function found(processes: readonly Process[], input: Partial<ReachInput> & Pick<ReachInput, "seeds">) {
  const rows = new Map([{ pid: SELF }, ...processes].map((process) => [process.pid, rowOf(process)]));
  const none = { sessions: new Set<number>(), groups: new Set<number>(), isSpared: () => false, isKept: () => false };
  const { targets, kept } = reach({ rows, self: SELF, ...none, ...input });
  return { targets: texts(targets), kept: texts(kept) };
}

const marked = (...pids: number[]): ReadonlyMap<number, Evidence> =>
  new Map(pids.map((pid) => [pid, { kind: "marker" }]));
const named = (name: string) => (row: Row) => row.stat.command === name;

describe("reach", () => {
  it("goes down all generations, parents before their children", () => {
    const processes = [{ pid: 22, ppid: 21 }, { pid: 21, ppid: 20 }, { pid: 20 }, { pid: 23 }];
    expect(found(processes, { seeds: marked(20) }).targets).toEqual(["20 marker", "21 descent", "22 descent"]);
  });

  it("gets what is in a session that a member leads, but not what is only in its group", () => {
    const processes = [{ pid: 20 }, { pid: 21, session: 20 }, { pid: 22, session: 19, group: 20 }];
    expect(found(processes, { seeds: marked(20) }).targets).toEqual(["20 marker", "21 session"]);
  });

  it("gets what is in the sessions and groups that are certain, whoever leads them", () => {
    const processes = [
      { pid: 21, session: 20 },
      { pid: 22, session: 5, group: 19 },
    ];
    const input = { seeds: marked(), sessions: new Set([20]), groups: new Set([19]) };
    expect(found(processes, input).targets).toEqual(["21 session", "22 group"]);
  });

  it("never reaches process 1, zombies, the caller, or anything through the caller", () => {
    const processes = [
      { pid: 1, ppid: 0 },
      { pid: 20, ppid: SELF },
      { pid: 21, state: "Z" },
    ];
    expect(found(processes, { seeds: marked(1, SELF, 21) }).targets).toEqual([]);
    expect(found(processes, { seeds: new Map([[SELF, { kind: "root" }]]) }).targets).toEqual(["20 descent"]);
  });

  it("I153 leaves out what is spared and all below it, also when it is found late", () => {
    const processes = [
      { pid: 20, command: "sh" },
      { pid: 21, ppid: 20, command: "holdfastd" },
      { pid: 22, ppid: 21 },
      { pid: 23, session: 22 },
      { pid: 24, ppid: 20, command: "sleep" },
    ];
    const input = { seeds: marked(22, 20), isSpared: named("holdfastd") };
    expect(found(processes, input)).toEqual({ targets: ["20 marker", "24 descent"], kept: [] });
  });

  it("keeps programs and what runs below them, and derives nothing from them", () => {
    const processes = [
      { pid: 20, command: "sh" },
      { pid: 21, ppid: 20, command: "tmux" },
      { pid: 22, ppid: 21 },
      { pid: 23, ppid: 22 },
      { pid: 24, session: 22 },
    ];
    const input = { seeds: marked(23, 20), isKept: named("tmux") };
    expect(found(processes, input)).toEqual({ targets: ["20 marker"], kept: ["23 marker", "21 descent"] });
  });

  it("is not caught in a ring of parents that were read at different moments", () => {
    const processes = [
      { pid: 20, ppid: 21 },
      { pid: 21, ppid: 20 },
    ];
    expect(found(processes, { seeds: marked(20), isKept: named("tmux") }).targets).toEqual(["20 marker", "21 descent"]);
  });
});
