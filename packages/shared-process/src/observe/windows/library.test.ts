import { describe, expect, it } from "vitest";
import { bytes, type Call, fakeKoffi } from "../fake-koffi.testing.ts";
import { loadWindowsLibrary, type WindowsLibrary } from "./library.ts";

interface Machine {
  lastError: number;
  ended: boolean;
  readonly calls: readonly string[];
  readonly failing: Set<string>;
}

const MACHINE_GUID = "12345678-1234-1234-1234-123456789abc";
const CREATED = 133_500_000_000_000_001n;
const HANDLE = 88;

/** kernel32 and advapi32: each function fails, in its own way, when the machine says so. */
function load(): { machine: Machine; library: WindowsLibrary } {
  const failing = new Set<string>();
  const unless = (name: string, failed: number, call: Call): [string, Call] => [
    name,
    (...values) => (failing.has(name) ? failed : call(...values)),
  ];
  const koffi = fakeKoffi(
    Object.fromEntries([
      unless("GetLastError", 0, () => machine.lastError),
      unless("OpenProcess", 0, () => HANDLE),
      unless("CloseHandle", 0, () => 1),
      unless("GetProcessTimes", 0, (_handle, creation) => bytes(creation).writeBigUInt64LE(CREATED)),
      unless("WaitForSingleObject", 0xffff_ffff, () => (machine.ended ? 0 : 258)),
      unless("TerminateProcess", 0, () => 1),
      unless("GetExitCodeProcess", 0, (_handle, code) => bytes(code).writeUInt32LE(0xc000_0005)),
      unless("RegGetValueW", 2, (_key, _subkey, _value, _flags, _type, data, size) => {
        bytes(size).writeUInt32LE(bytes(data).write(`${MACHINE_GUID}\0`, "utf16le"));
        return 0;
      }),
    ]),
  );
  const machine: Machine = { lastError: 0, ended: false, calls: koffi.calls, failing };
  return { machine, library: loadWindowsLibrary(koffi) };
}

const coded = (code: string): unknown => expect.objectContaining({ code });

describe("a process object", () => {
  it("is opened with the least rights, tells its creation and is closed once", () => {
    const { machine, library } = load();
    const process = library.open(4712, "query");
    expect(process.created).toBe(String(CREATED));
    process.close();
    process.close();
    expect(machine.calls).toEqual(["OpenProcess 1052672 0 4712", "GetProcessTimes 88", "CloseHandle 88"]);
  });

  it.each([
    [87, "ESRCH"],
    [5, "EPERM"],
    [1450, "ENOMEM"],
    [31, "EIO"],
  ])("that cannot be opened (%d) is %s", (lastError, code) => {
    const { machine, library } = load();
    machine.failing.add("OpenProcess");
    machine.lastError = lastError;
    expect(() => library.open(4712, "query")).toThrow(coded(code));
  });

  it("is closed when its times cannot be read", () => {
    const { machine, library } = load();
    machine.failing.add("GetProcessTimes");
    expect(() => library.open(4712, "query")).toThrow(coded("EIO"));
    expect(machine.calls.at(-1)).toBe("CloseHandle 88");
  });

  it("tells its end and its exit code, and not what it cannot wait for", () => {
    const { machine, library } = load();
    const process = library.open(4712, "query");
    expect(process.hasEnded()).toBe(false);
    machine.ended = true;
    expect(process.hasEnded()).toBe(true);
    expect(process.exitCode()).toBe(0xc000_0005);
    machine.failing.add("WaitForSingleObject").add("GetExitCodeProcess");
    expect(() => process.hasEnded()).toThrow(coded("EIO"));
    expect(() => process.exitCode()).toThrow(coded("EIO"));
  });

  it("is terminated through its own handle; of an ended one access is denied, which is ESRCH", () => {
    const { machine, library } = load();
    const process = library.open(4712, "terminate");
    process.terminate();
    expect(machine.calls).toContain("OpenProcess 1052673 0 4712");
    expect(machine.calls.at(-1)).toBe("TerminateProcess 88 1");
    machine.failing.add("TerminateProcess");
    machine.lastError = 5;
    expect(() => process.terminate()).toThrow(coded("EPERM"));
    machine.ended = true;
    expect(() => process.terminate()).toThrow(coded("ESRCH"));
  });
});

describe("the machine", () => {
  it("has a GUID in the 64-bit registry", () => {
    const { machine, library } = load();
    expect(library.machineGuid()).toBe(`${MACHINE_GUID}\0`);
    expect(machine.calls).toEqual(["RegGetValueW -2147483646 65538"]);
    machine.failing.add("RegGetValueW");
    expect(() => library.machineGuid()).toThrow(coded("ENOENT"));
  });
});
