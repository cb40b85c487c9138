import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDefunct, parseStat } from "./stat.ts";

const line = (name: string, fields: { state?: string; threads?: number; ticks?: string; pgrp?: number } = {}): string =>
  `4711 (${name}) ${fields.state ?? "S"} 17 ${fields.pgrp ?? 18} 19 0 -1 4194304 1 2 3 4 50 60 7 8 20 0 ` +
  `${fields.threads ?? 3} 0 ${fields.ticks ?? "987654"} 1000 200 18446744073709551615\n`;

describe("parseStat", () => {
  it("reads the fields by their numbers in the manual page", () => {
    expect(parseStat(line("node"))).toEqual({
      kind: "parsed",
      stat: {
        pid: 4711,
        command: "node",
        state: "S",
        ppid: 17,
        pgrp: 18,
        session: 19,
        userTicks: 50,
        systemTicks: 60,
        threads: 3,
        startTicks: "987654",
        residentPages: 200,
        exitStatus: null,
      },
    });
  });

  it("reads the status that a zombie keeps as the last field, and none on kernels that do not have it", () => {
    const whole = `${line("node", { state: "Z" }).trim()} ${"0 ".repeat(26)}`;
    expect(parseStat(`${whole}2304\n`)).toMatchObject({ stat: { exitStatus: 2304 } });
    expect(parseStat(`${whole.trim()}\n`)).toMatchObject({ stat: { exitStatus: null } });
  });

  it("is not misled by any name of a program (last closing parenthesis)", () => {
    const hostile = fc.oneof(
      fc.constantFrom(") Z 0 (", "a) Z 1 (b\nc d", "((", "))", "", " ", ") S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 5"),
      fc.uint8Array({ maxLength: 15 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
      fc.string({ unit: fc.constantFrom(")", "(", " ", "\n", "Z", "0"), maxLength: 15 }),
    );
    fc.assert(
      fc.property(hostile, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (name, ticks) => {
        const parsed = parseStat(line(name, { ticks: String(ticks) }));
        expect(parsed).toMatchObject({
          kind: "parsed",
          stat: { command: name, state: "S", ppid: 17, threads: 3, startTicks: String(ticks) },
        });
      }),
    );
  });

  it("accepts the groups of minus one that an ending process shows", () => {
    expect(parseStat(line("node", { state: "X", threads: 0, pgrp: -1 }))).toMatchObject({
      stat: { state: "X", pgrp: -1 },
    });
  });

  it("says unparsable for any prefix that lacks the start time, and never throws", () => {
    const whole = line("a) Z 1 (b");
    const needed = whole.indexOf("987654");
    for (let length = 0; length <= needed; length += 1) {
      expect(parseStat(whole.slice(0, length))).toEqual({ kind: "unparsable" });
    }
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        expect(parseStat(text)).toEqual({ kind: "unparsable" });
      }),
    );
  });

  it.each([
    "4711 node S",
    line("node", { state: "SS" }),
    line("node", { ticks: "-5" }),
    line("node", { ticks: "1e3" }),
  ])("says unparsable for %j", (text) => {
    expect(parseStat(text)).toEqual({ kind: "unparsable" });
  });
});

describe("isDefunct", () => {
  it.each([
    ["Z", 1, true],
    ["Z", 0, true],
    ["Z", 2, false],
    ["X", 0, true],
    ["x", 4, true],
    ["S", 1, false],
    ["T", 1, false],
    ["D", 1, false],
  ])("I3 a process in state %s with %i threads: %s", (state, threads, defunct) => {
    expect(isDefunct({ state, threads })).toBe(defunct);
  });
});
