import { describe, expect, it } from "vitest";
import { FakeProcessTable } from "../testing/index.ts";
import { statusFromWait, zombieStatus } from "./status.ts";

const PID = 42;

const withZombie = (exitStatus: number | null, fields: object = {}): FakeProcessTable => {
  const table = new FakeProcessTable();
  table.start({ pid: PID, state: "Z", exitStatus, ...fields });
  return table;
};

describe("statusFromWait", () => {
  it.each([
    [0, { code: 0 }],
    [7 << 8, { code: 7 }],
    [255 << 8, { code: 255 }],
    [9, { signal: "SIGKILL" }],
    // With a core dump.
    [0x80 | 11, { signal: "SIGSEGV" }],
    [64, { signal: "SIG64" }],
    // As Node calls them, not SIGIOT and SIGPOLL.
    [6, { signal: "SIGABRT" }],
    [29, { signal: "SIGIO" }],
  ])("of %d", (status, expected) => {
    expect(statusFromWait(status)).toEqual(expected);
  });
});

describe("zombieStatus", () => {
  it("is what the zombie keeps for its parent", () => {
    expect(zombieStatus(withZombie(7 << 8), PID)).toEqual({ code: 7 });
    expect(zombieStatus(withZombie(9), PID)).toEqual({ signal: "SIGKILL" });
    expect(zombieStatus(withZombie(0), PID)).toEqual({ code: 0 });
  });

  it("is not known for another user's process that shows 0, which may be a hidden status", () => {
    expect(zombieStatus(withZombie(0, { foreign: true }), PID)).toBeNull();
    expect(zombieStatus(withZombie(9, { foreign: true }), PID)).toEqual({ signal: "SIGKILL" });
    expect(zombieStatus(withZombie(0, { unreadable: { status: "EACCES" } }), PID)).toBeNull();
    expect(zombieStatus(withZombie(0, { capabilities: "0000000000002000" }), PID)).toBeNull();
  });

  it("is not known of what runs, of a leader whose threads run, of what is gone, hidden or garbage", () => {
    expect(zombieStatus(withZombie(9, { state: "S" }), PID)).toBeNull();
    expect(zombieStatus(withZombie(9, { threads: 2 }), PID)).toBeNull();
    expect(zombieStatus(withZombie(9), 99)).toBeNull();
    expect(zombieStatus(withZombie(9, { unreadable: { stat: "ENOENT" } }), PID)).toBeNull();
    expect(zombieStatus(withZombie(9, { statText: "42 (x" }), PID)).toBeNull();
    expect(zombieStatus(withZombie(null), PID)).toBeNull();
  });
});
