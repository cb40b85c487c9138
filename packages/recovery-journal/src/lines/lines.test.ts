import fc from "fast-check";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeFileSystem } from "../node-file-system.ts";
import { SimulatedDisk } from "../testing/index.ts";
import { findLine } from "./find-line.ts";
import { lastLine } from "./last-line.ts";
import { openLineLog } from "./line-log.ts";
import { readLines } from "./read-lines.ts";

const texts = (disk: SimulatedDisk): (string | null)[] =>
  [...readLines(disk, "/t")].map((line) => (line.oversize === true ? null : line.line));

describe("a line log", () => {
  it("I93 I140 cuts a torn last line at every truncation, and later appends are intact", () => {
    const whole = Buffer.from('{"a":1}\n{"b":"ü😀\u2028"}\n');
    for (let length = 0; length <= whole.length; length += 1) {
      for (const tail of [Buffer.alloc(0), Buffer.alloc(40)]) {
        const disk = new SimulatedDisk();
        disk.plant("/t", Buffer.concat([whole.subarray(0, length), tail]));
        const log = openLineLog({ path: "/t", fs: disk });
        log.append('{"c":3}');
        const kept = length === whole.length ? 2 : length >= 8 ? 1 : 0;
        expect(texts(disk)).toEqual([...['{"a":1}', '{"b":"ü😀\u2028"}'].slice(0, kept), '{"c":3}']);
        expect(log.tornBytes).toBe(length + tail.length - [0, 8, whole.length][kept]!);
        expect(log.size).toBe(disk.contentOf("/t").length);
      }
    }
  });

  it("I141 on a full disk ends with a whole line and serves again by itself", () => {
    const disk = new SimulatedDisk();
    const log = openLineLog({ path: "/t", fs: disk });
    log.append("first");
    disk.capacityBytes = 9;
    expect(() => log.append("second")).toThrow(expect.objectContaining({ code: "disk_full" }));
    expect(disk.contentOf("/t").toString()).toBe("first\n");
    disk.heal();
    log.append("third");
    expect(texts(disk)).toEqual(["first", "third"]);
  });

  it("is poisoned by a failed sync and by any other failed write", () => {
    for (const call of ["fdatasync", "write"] as const) {
      const disk = new SimulatedDisk();
      const log = openLineLog({ path: "/t", fs: disk });
      log.append("first");
      disk.inject({ call, errno: "EIO", effect: "half" });
      expect(() => (call === "write" ? log.append("x") : log.sync())).toThrow(
        expect.objectContaining({ code: "log_poisoned" }),
      );
      expect(() => log.append("y")).toThrow(expect.objectContaining({ code: "log_poisoned" }));
      expect(() => log.sync()).toThrow(expect.objectContaining({ code: "log_poisoned" }));
      expect(texts(disk)).toEqual(["first"]);
      log.close();
      expect(disk.openDescriptors).toBe(0);
    }
  });

  it.each(["write", "fsync", "link", "open"] as const)(
    "I146 a name that was taken away is given back with all lines, also after a %s that failed",
    (call) => {
      const disk = new SimulatedDisk();
      const log = openLineLog({ path: "/t", fs: disk });
      log.append("first");
      expect(log.keepName()).toBe("kept");
      disk.unlink("/t");
      log.append("second");
      disk.inject({ call, errno: "EIO" });
      expect(() => log.keepName()).toThrow(expect.objectContaining({ code: "log_lost" }));
      expect(disk.readdir("/")).toEqual([]);
      expect(log.keepName()).toBe("restored");
      log.append("third");
      expect(texts(disk)).toEqual(["first", "second", "third"]);
      log.close();
      expect([disk.openDescriptors, disk.readdir("/")]).toEqual([0, ["t"]]);
    },
  );

  it("leaves alone what took the place of a log", () => {
    const disk = new SimulatedDisk();
    const log = openLineLog({ path: "/t", fs: disk });
    disk.unlink("/t");
    disk.plant("/t", Buffer.from("other\n"));
    expect(() => log.keepName()).toThrow(expect.objectContaining({ code: "log_lost" }));
    expect([texts(disk), disk.readdir("/")]).toEqual([["other"], ["t"]]);
  });

  it("keeps synced lines through a power cut at any call", () => {
    const disk = new SimulatedDisk();
    const log = openLineLog({ path: "/t", fs: disk });
    let synced = 0;
    let states = 0;
    disk.onCall = () => {
      for (const state of disk.crashStates()) {
        states += 1;
        openLineLog({ path: "/t", fs: state });
        expect(texts(state).slice(0, synced)).toEqual(["a", "b", "c"].slice(0, synced));
      }
    };
    for (const line of ["a", "b", "c"]) {
      log.append(line);
      log.sync();
      synced += 1;
    }
    expect(states).toBeGreaterThan(10);
  });
});

describe("reading lines", () => {
  let root: string;
  let path: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "holdfast-lines-"));
    path = join(root, "t");
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it("keeps characters that chunks split, every separator but LF, and leaves out the unterminated tail", () => {
    const long = `${"x".repeat(65_533)}😀\u2028\r`;
    writeFileSync(path, `${long}\n\nß\ntail`);
    const lines = [...readLines(nodeFileSystem, path)];
    expect(lines.map((line) => (line.oversize === true ? null : line.line))).toEqual([long, "", "ß"]);
    const last = lines[2];
    expect([...readLines(nodeFileSystem, path, { from: last?.offset ?? 0 })]).toEqual([last]);
    expect([...readLines(nodeFileSystem, path, { to: last?.offset ?? 0 })]).toHaveLength(2);
    expect(lastLine(nodeFileSystem, path)).toBe("ß");
  });

  it("reports a line over 16 MiB without its text and goes on behind it", () => {
    writeFileSync(path, `a\n${"x".repeat(16 * 1024 * 1024 + 1)}\nb\n`);
    const lines = [...readLines(nodeFileSystem, path)];
    expect(lines.map(({ oversize }) => oversize === true)).toEqual([false, true, false]);
    expect(lines[1]).toEqual({ oversize: true, offset: 2, end: 2 + 16 * 1024 * 1024 + 2 });
    expect(findLine(nodeFileSystem, path, (line) => line < "b")).toBe(lines[2]?.offset);
  });

  it("finds the first line of a sequence wherever it lies", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(300), { maxLength: 40 }), fc.nat(41), (paddings, wanted) => {
        const disk = new SimulatedDisk();
        const content = paddings.map((padding, index) => `${index} ${"é".repeat(padding)}\n`);
        disk.plant("/t", Buffer.from(`${content.join("")}unterminated`));
        const offset = findLine(disk, "/t", (line) => Number.parseInt(line, 10) < wanted);
        expect(offset).toBe(Buffer.byteLength(content.slice(0, wanted).join("")));
      }),
      { numRuns: 60 },
    );
  });

  it("has nothing to say of a missing or an empty file", () => {
    expect([[...readLines(nodeFileSystem, path)], lastLine(nodeFileSystem, path)]).toEqual([[], null]);
    writeFileSync(path, "no line yet");
    expect([lastLine(nodeFileSystem, path), findLine(nodeFileSystem, path, () => false)]).toEqual([null, 0]);
  });

  it("creates the log private and appends to what is there", () => {
    const first = openLineLog({ path });
    first.append("a");
    first.sync();
    first.close();
    first.close();
    const second = openLineLog({ path });
    second.append("b");
    expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["a\nb\n", 0o600]);
    expect(() => first.append("c")).toThrow(expect.objectContaining({ code: "log_closed" }));
    second.close();
  });
});
