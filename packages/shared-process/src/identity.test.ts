import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { damagedRecords } from "./damaged-records.testing.ts";
import { compareIdentities, isProcessIdentity, startIdOf } from "./identity.ts";
import type { ProcessIdentity } from "./types.ts";

const base: ProcessIdentity = {
  machineId: "m1",
  bootId: "b1",
  pid: 42,
  pidNamespace: "pid:[1]",
  timeNamespace: "time:[1]",
  startTicks: "100",
  pidfsInode: null,
};
const withFields = (fields: Partial<ProcessIdentity>): ProcessIdentity => ({ ...base, ...fields });

const without = (whole: ProcessIdentity, mask: Readonly<Record<string, boolean | undefined>>): ProcessIdentity => ({
  ...whole,
  ...Object.fromEntries(Object.entries(mask).flatMap(([name, hide]) => (hide === true ? [[name, null]] : []))),
});

describe("compareIdentities", () => {
  it.each<[string, Partial<ProcessIdentity>, Partial<ProcessIdentity>, unknown]>([
    ["all equal", {}, {}, { kind: "current", basis: "start-time" }],
    ["other ticks", {}, { startTicks: "101" }, { kind: "replaced", by: "process" }],
    ["ticks missing", { startTicks: null }, {}, { kind: "unknown", why: "no-common-field" }],
    ["ticks unreadable", {}, { startTicks: null }, { kind: "unknown", why: "no-common-field" }],
    ["equal inode", { pidfsInode: "7" }, { pidfsInode: "7" }, { kind: "current", basis: "kernel-id" }],
    [
      "equal inode beats ticks",
      { pidfsInode: "7", startTicks: "1" },
      { pidfsInode: "7" },
      { kind: "current", basis: "kernel-id" },
    ],
    [
      "equal inode, other view",
      { pidfsInode: "7" },
      { pidfsInode: "7", pidNamespace: "pid:[2]", pid: 3 },
      { kind: "current", basis: "kernel-id" },
    ],
    ["other inode, same tick", { pidfsInode: "7" }, { pidfsInode: "8" }, { kind: "replaced", by: "process" }],
    ["inode on one side", { pidfsInode: "7" }, {}, { kind: "current", basis: "start-time" }],
    ["other boot", {}, { bootId: "b2" }, { kind: "gone", why: "previous-boot" }],
    [
      "other boot, same inode",
      { pidfsInode: "7" },
      { bootId: "b2", pidfsInode: "7" },
      { kind: "gone", why: "previous-boot" },
    ],
    ["other boot, machine unknown", { machineId: null }, { bootId: "b2" }, { kind: "unknown", why: "other-host" }],
    ["machine unknown, same boot", { machineId: null }, {}, { kind: "current", basis: "start-time" }],
    ["other machine", {}, { machineId: "m2", bootId: "b2" }, { kind: "unknown", why: "other-host" }],
    ["boot missing", {}, { bootId: null }, { kind: "unknown", why: "boot-unreadable" }],
    ["boot not recorded", { bootId: null }, {}, { kind: "unknown", why: "boot-unreadable" }],
    ["other pid namespace", {}, { pidNamespace: "pid:[2]" }, { kind: "unknown", why: "other-pid-namespace" }],
    [
      "other time namespace",
      {},
      { timeNamespace: "time:[2]", startTicks: "9" },
      { kind: "unknown", why: "other-time-namespace" },
    ],
    ["namespace missing", {}, { pidNamespace: null }, { kind: "unknown", why: "no-common-field" }],
    ["other pid", {}, { pid: 43 }, { kind: "unknown", why: "no-common-field" }],
  ])("I15 says for %s what can be proven", (_title, recorded, observed, verdict) => {
    expect(compareIdentities(withFields(recorded), withFields(observed))).toEqual(verdict);
  });

  const value = fc.option(fc.constantFrom("1", "2"));
  const identity = fc.record({
    machineId: value,
    bootId: value,
    pid: fc.constantFrom(1, 2),
    pidNamespace: value,
    timeNamespace: value,
    startTicks: value,
    pidfsInode: value,
  });

  it("I16 never says replaced or gone because a field is missing: whatever can be one process is never denied", () => {
    const hidden = fc.record(
      { machineId: fc.boolean(), bootId: fc.boolean(), startTicks: fc.boolean(), pidfsInode: fc.boolean() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(identity, hidden, hidden, (whole, ofRecord, ofObservation) => {
        const verdict = compareIdentities(without(whole, ofRecord), without(whole, ofObservation));
        expect(["current", "unknown"]).toContain(verdict.kind);
      }),
    );
  });

  it("I16 says current for two equal whole identities, and unknown once either lacks its start time", () => {
    expect(compareIdentities(base, { ...base })).toMatchObject({ kind: "current" });
    expect(compareIdentities({ ...base, startTicks: null }, base)).toMatchObject({ kind: "unknown" });
  });

  it("I16 says unknown for what is no identity, a field short or of another form", () => {
    for (const damaged of damagedRecords(base)) {
      expect(isProcessIdentity(damaged)).toBe(false);
      expect(compareIdentities(damaged, base)).toEqual({ kind: "unknown", why: "unparsable" });
      expect(compareIdentities(base, damaged)).toEqual({ kind: "unknown", why: "unparsable" });
    }
  });

  it("does not depend on which side was recorded", () => {
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        expect(compareIdentities(one, other)).toEqual(compareIdentities(other, one));
      }),
    );
  });
});

describe("startIdOf", () => {
  it("I99 is tagged with its format and says what is missing", () => {
    expect(startIdOf(base)).toBe("ticks:b1:42:100");
    expect(startIdOf(withFields({ bootId: null, startTicks: null }))).toBe("ticks:-:42:-");
    expect(startIdOf(withFields({ startTicks: null, pidfsInode: "7" }))).toBe("kernel-id:b1:42:7");
  });

  it("is the same for a record with the kernel's id and for a scan, which reads none", () => {
    expect(startIdOf(withFields({ pidfsInode: "7" }))).toBe(startIdOf(base));
  });
});
