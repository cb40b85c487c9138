import { describe, expect, it } from "vitest";
import { safeParse } from "zod/mini";
import { identitySchema } from "./owner-record.ts";

const identity = {
  machineId: "m1",
  bootId: "b1",
  pid: 42,
  pidNamespace: "pid:[1]",
  timeNamespace: "none",
  startTicks: "100",
  pidfsInode: null,
};

const reads = (fields: object): boolean => safeParse(identitySchema, { ...identity, ...fields }).success;

describe("identitySchema", () => {
  it("reads what could be read of a process, and null for what could not", () => {
    expect(safeParse(identitySchema, identity)).toEqual({ success: true, data: identity });
    const unread = { machineId: null, bootId: null, pidNamespace: null, timeNamespace: null, startTicks: null };
    expect(reads(unread)).toBe(true);
  });

  it.each(["machineId", "bootId", "pidNamespace", "timeNamespace", "startTicks", "pidfsInode"])(
    "I16 takes an empty %s for damage, not for another one",
    (name) => {
      expect(reads({ [name]: "" })).toBe(false);
    },
  );
});
