import { describe, expect, it } from "vitest";
import { systemRun } from "./run.ts";

describe("running a program of the system", () => {
  it("I158 gives it the C locale and UTC, whatever the caller has", () => {
    process.env["LC_ALL"] = "de_DE.UTF-8";
    process.env["TZ"] = "Asia/Tokyo";
    const lines = systemRun("/usr/bin/env", []).trim().split("\n").toSorted();
    expect(lines).toEqual(["LC_ALL=C", "TZ=UTC0"]);
  });

  it("returns what was printed, also with a failing exit code", () => {
    expect(systemRun("/bin/sh", ["-c", "echo said; exit 1"])).toBe("said\n");
  });

  it("throws the system's error when it cannot be started", () => {
    expect(() => systemRun("/nowhere/ps", [])).toThrow(expect.objectContaining({ code: "ENOENT" }));
  });
});
