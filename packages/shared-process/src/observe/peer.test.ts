import { describe, expect, it } from "vitest";
import { opened, openDescriptors, PID, socketOf, world, type World } from "./world.testing.ts";

describe("peer", () => {
  it("holds whoever the kernel names", () => {
    const made = world("pidfd");
    using handle = opened(made.observer.peer(socketOf(PID)));
    expect(handle.identity).toEqual(made.recorded);
    expect(handle.signal("SIGTERM")).toEqual({ kind: "sent", via: "pidfd" });
  });

  const cases: readonly (readonly [string, (made: World) => void, object])[] = [
    ["nobody is there any more", ({ table }) => table.reap(PID), { kind: "gone", why: "no-such-pid" }],
    ["it has ended", ({ table }) => table.end(PID), { kind: "gone", why: "defunct" }],
    ["I155 no descriptor is left", failAt("pidfd_open", "EMFILE"), { kind: "unknown", why: "descriptors-exhausted" }],
    ["the socket has no such peer", failAt("pidfd_open", "ENODATA"), { kind: "unknown", why: "unsupported" }],
    ["the kernel has no word of it", failAt("pidfd_open", "ENOPROTOOPT"), { kind: "unknown", why: "unsupported" }],
    [
      "I155 no descriptor is left to read its number",
      failAt("pidfd_fdinfo", "EMFILE"),
      { kind: "unknown", why: "descriptors-exhausted" },
    ],
    ["its number is hidden", failAt("pidfd_fdinfo", "EACCES"), { kind: "unknown", why: "denied" }],
    ["/proc is lost", ({ table }) => table.files.set("/proc/self", "!ENOENT"), { kind: "unknown", why: "no-proc" }],
  ];

  it.each(cases)("says so, and leaves nothing open, when %s", (_title, become, expected) => {
    const made = world("pidfd");
    become(made);
    expect(made.observer.peer(socketOf(PID))).toEqual(expected);
    expect(openDescriptors(made)).toBe(0);
  });

  it.each([
    ["the library is absent", world("narrow"), socketOf(PID)],
    ["the kernel is older", world("pidfd", { features: { peers: false } }), socketOf(PID)],
    ["the socket is closed", world("pidfd"), socketOf(-1)],
    ["it is no socket that Node has opened", world("pidfd"), Object.assign(socketOf(PID), { _handle: null })],
  ])("is unsupported where %s", (_title, made, socket) => {
    expect(made.observer.peer(socket)).toEqual({ kind: "unknown", why: "unsupported" });
    expect(made.calls).toEqual([]);
  });
});

function failAt(call: string, errno: string): (made: World) => void {
  return ({ table }) => {
    table.beforeCall = (made) => {
      if (made.startsWith(call)) throw Object.assign(new Error(errno), { code: errno });
    };
  };
}
