import { describe, expect, it } from "vitest";
import { FakeCgroups, FakeProcessTable } from "../testing/index.ts";
import { findPlace, type Place } from "./place.ts";

function placeBy(mountinfo: string, cgroup: string): Place {
  const table = new FakeProcessTable();
  const ports = new FakeCgroups(table);
  table.files.set("/proc/self/mountinfo", mountinfo);
  table.files.set("/proc/self/cgroup", cgroup);
  return findPlace(ports);
}

const line = (root: string, at: string): string =>
  `37 30 0:34 ${root} ${at} rw,relatime shared:4 - cgroup2 cgroup2 rw\n`;
const v1 = "31 30 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";

describe("findPlace", () => {
  it.each([
    ["a pure v2 system", line("/", "/sys/fs/cgroup"), "0::/user.slice/a.scope\n", "/sys/fs/cgroup/user.slice/a.scope"],
    ["the root of it", line("/", "/sys/fs/cgroup"), "0::/\n", "/sys/fs/cgroup"],
    ["a hybrid system", v1 + line("/", "/sys/fs/cgroup/unified"), "9:cpu:/x\n0::/a\n", "/sys/fs/cgroup/unified/a"],
    ["a container with the host's names", line("/docker/f00", "/cg"), "0::/docker/f00/b\n", "/cg/b"],
    ["the top of such a container", line("/docker/f00", "/cg"), "0::/docker/f00\n", "/cg"],
    ["a mount point with a blank", line("/", "/my\\040cgroups"), "0::/a\n", "/my cgroups/a"],
  ])("finds its own group on %s", (_title, mountinfo, cgroup, own) => {
    expect(placeBy(mountinfo, cgroup)).toMatchObject({ kind: "found", own });
  });

  it.each([
    ["there is v1 alone", v1, "9:cpu:/x\n"],
    ["v2 is not mounted", v1, "9:cpu:/x\n0::/\n"],
    ["its group lies outside of the namespace", line("/", "/sys/fs/cgroup"), "0::/../other\n"],
    ["only another subtree is mounted", line("/docker/f00", "/cg"), "0::/docker/f001\n"],
    ["/proc cannot be read", "!EACCES", "0::/\n"],
  ])("is unavailable when %s", (_title, mountinfo, cgroup) => {
    expect(placeBy(mountinfo, cgroup)).toEqual({ kind: "unavailable", reason: expect.any(String) });
  });
});
