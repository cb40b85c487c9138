import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDefunct, parseStat } from "./stat.ts";

interface Fields {
  readonly state?: string;
  readonly threads?: number;
  readonly ticks?: string;
  readonly pgrp?: number;
}

/** All 52 fields of proc_pid_stat(5): the limit of resident memory is the largest number, as on every machine. */
const line = (name: string, { state = "S", threads = 3, ticks = "987654", pgrp = 18 }: Fields = {}): string =>
  `4711 (${name}) ${state} 17 ${pgrp} 19 0 -1 4194304 1 2 3 4 50 60 7 8 20 0 ${threads} 0 ${ticks} 1000 200 ` +
  "18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 1792\n";

/** What the kernel writes: `%d (%s) %c`, then whole numbers. */
const SHAPE = /^\d+ \([^]*\) [A-Za-z](?: -?\d+){21,}\n?$/;

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
        exitSignal: 17,
        exitStatus: 1792,
      },
    });
  });

  it("reads the status that a zombie keeps as the last field, and none on kernels that do not have it", () => {
    const whole = line("node", { state: "Z" }).trim();
    expect(parseStat(`${whole}\n`)).toMatchObject({ stat: { exitStatus: 1792 } });
    const shorter = whole.slice(0, whole.lastIndexOf(" "));
    expect(parseStat(`${shorter}\n`)).toMatchObject({ stat: { exitStatus: null } });
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

  it("leaves open what an older kernel does not tell", () => {
    const whole = line("node").trimEnd().split(" ");
    const upTo = (fields: number): ReturnType<typeof parseStat> => parseStat(`${whole.slice(0, fields).join(" ")}\n`);
    expect(upTo(51)).toMatchObject({ kind: "parsed", stat: { exitSignal: 17, exitStatus: null } });
    expect(upTo(37)).toMatchObject({ kind: "parsed", stat: { exitSignal: null, exitStatus: null } });
    expect(upTo(24)).toMatchObject({ kind: "parsed", stat: { residentPages: 200 } });
    expect(upTo(23)).toEqual({ kind: "unparsable" });
  });

  it("takes more fields than it knows", () => {
    const more = `${line("node").trimEnd()} ${"7 ".repeat(100).trimEnd()}\n`;
    expect(parseStat(more)).toEqual(parseStat(line("node")));
  });

  it("takes nothing but what the kernel writes, wherever a byte is changed, put in or taken out", () => {
    const whole = line("a) S (b");
    const bytes = fc.constantFrom(...Array.from(" -0)(AZaz\n\t.+:/\u00a0\u00b2\u00ff"));
    const place = fc.nat({ max: whole.length });
    fc.assert(
      fc.property(place, bytes, fc.constantFrom(0, 1), (at, byte, taken) => {
        const text = whole.slice(0, at) + byte + whole.slice(at + taken);
        const startsInTime = /^-/.exec(text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "") === null;
        expect(parseStat(text).kind).toBe(SHAPE.test(text) && startsInTime ? "parsed" : "unparsable");
      }),
      { numRuns: 2_000 },
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
