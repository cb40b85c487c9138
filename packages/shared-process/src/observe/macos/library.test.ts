import { describe, expect, it } from "vitest";
import { bytes, type Call, fakeKoffi, type Value } from "../fake-koffi.testing.ts";
import { loadMacosLibrary, type MacosLibrary } from "./library.ts";

const NAMES = ["proc_pidinfo", "proc_signal_with_audittoken", "sysctlbyname", "sysctl", "gethostuuid"];

/** As in C: what gives a negative number fails with that errno, in the way that its function has of failing. */
function load(functions: Readonly<Record<string, (...values: Value[]) => number>>): MacosLibrary {
  const failing = (name: string): Call => {
    const call = functions[name] ?? (() => -22);
    return (...values) => {
      const result = call(...values);
      if (result >= 0) return result;
      koffi.lastErrno = -result;
      return name === "proc_pidinfo" ? 0 : -1;
    };
  };
  const koffi = fakeKoffi(Object.fromEntries(NAMES.map((name) => [name, failing(name)])));
  return loadMacosLibrary(koffi);
}

interface Info {
  readonly uniqueId: () => bigint;
  readonly isForeign?: boolean;
}

/** The kernel's side of `struct proc_uniqidentifierinfo`, `proc_bsdshortinfo` and `proc_bsdinfo`. */
function pidInfo({ uniqueId, isForeign = false }: Info): (...values: Value[]) => number {
  return (pid, flavour, findsZombies, pointer, size) => {
    const info = bytes(pointer);
    if (pid === 9 || findsZombies !== 1) return -3;
    if (flavour === 17 && size === 56) {
      info.writeBigUInt64LE(uniqueId(), 16);
      return info.writeInt32LE(-7, 32) + 20;
    }
    if (flavour === 13 && size === 64) {
      info.writeUInt32LE(7, 4);
      info.writeUInt32LE(42, 8);
      return info.writeUInt32LE(4, 12) + 48;
    }
    if (flavour !== 3 || size !== 136) return -22;
    info.writeBigUInt64LE(1_700_000_000n, 120);
    return isForeign ? -1 : info.writeBigUInt64LE(42n, 128);
  };
}

const coded = (code: string): unknown => expect.objectContaining({ code });

describe("reading a process", () => {
  const big = 0xffff_ffff_0000_0001n;

  it("takes id, version, start, state, group and parent from their places", () => {
    expect(load({ proc_pidinfo: pidInfo({ uniqueId: () => big }) }).process(42)).toEqual({
      uniqueId: String(big),
      idVersion: -7,
      startMicros: "1700000000000042",
      status: 4,
      group: 42,
      parent: 7,
    });
  });

  it("knows all but the start of another user's process", () => {
    const seen = load({ proc_pidinfo: pidInfo({ uniqueId: () => big, isForeign: true }) }).process(42);
    expect(seen).toMatchObject({ uniqueId: String(big), startMicros: null, status: 4 });
  });

  it("reads again when the number was given away meanwhile, and gives up when it always is", () => {
    const ids = [1n, 2n, 2n, 2n];
    expect(load({ proc_pidinfo: pidInfo({ uniqueId: () => ids.shift() ?? 0n }) }).process(42).uniqueId).toBe("2");
    let next = 0n;
    const restless = load({ proc_pidinfo: pidInfo({ uniqueId: () => next++ }) });
    expect(() => restless.process(42)).toThrow(coded("EAGAIN"));
  });

  it("says ESRCH for a free number, and EIO for an answer of another size", () => {
    const library = load({ proc_pidinfo: pidInfo({ uniqueId: () => 1n }) });
    expect(() => library.process(9)).toThrow(coded("ESRCH"));
    expect(() => load({ proc_pidinfo: () => 12 }).process(42)).toThrow(coded("EIO"));
  });
});

describe("a signal", () => {
  it("names the process by number and version in the audit token, and macOS's number of the signal", () => {
    const sent: unknown[] = [];
    const library = load({
      proc_signal_with_audittoken: (pointer, signal) => {
        const token = bytes(pointer);
        sent.push([token.length, token.readUInt32LE(20), token.readInt32LE(28), signal]);
        return 0;
      },
    });
    library.signal(42, -7, "SIGTERM");
    library.signal(42, 8, "SIGSTOP");
    library.signal(42, 9, "SIGCONT");
    expect(sent).toEqual([
      [32, 42, -7, 15],
      [32, 42, 8, 17],
      [32, 42, 9, 19],
    ]);
  });

  it.each([
    ["returned", 3],
    ["left in errno", -3],
  ])("that finds nobody throws ESRCH, be the error %s", (_title, result) => {
    const library = load({ proc_signal_with_audittoken: () => result });
    expect(() => library.signal(42, 1, "SIGKILL")).toThrow(coded("ESRCH"));
  });

  it("needs a libSystem that has all the functions", () => {
    expect(() => loadMacosLibrary(fakeKoffi({ proc_pidinfo: () => 0 }))).toThrow(/proc_signal_with_audittoken/);
  });
});

describe("the machine", () => {
  it("gives boot session, host and program area", () => {
    const library = load({
      sysctlbyname: (name, text, length) => {
        expect([name, bytes(length).readBigUInt64LE()]).toEqual(["kern.bootsessionuuid", 64n]);
        bytes(length).writeBigUInt64LE(BigInt(bytes(text).write("BOOT\0")));
        return 0;
      },
      sysctl: (pointer, words, area, length) => {
        const name = bytes(pointer);
        expect([words, ...[0, 4, 8].map((at) => name.readInt32LE(at))]).toEqual([3, 1, 49, 42]);
        bytes(length).writeBigUInt64LE(BigInt(bytes(area).write("area")));
        return 0;
      },
      gethostuuid: (id) => {
        bytes(id).write("00112233445566778899aabbccddeeff", "hex");
        return 0;
      },
    });
    expect(library.bootSession()).toBe("BOOT\0");
    expect(library.programArea(42).toString()).toBe("area");
    expect(library.hostUuid()).toBe("00112233-4455-6677-8899-aabbccddeeff");
  });

  it("throws the system's errors", () => {
    const library = load({ sysctlbyname: () => -1, gethostuuid: () => -35 });
    expect(() => library.programArea(42)).toThrow(coded("EINVAL"));
    expect(() => library.bootSession()).toThrow(coded("EPERM"));
    expect(() => library.hostUuid()).toThrow(coded("EIO"));
  });
});
