import { CodedError } from "@holdfast/shared-process";
import { assert, describe, expect, it } from "vitest";
import { type CallName, SimulatedDisk } from "../testing/index.ts";
import { isInPlace, mayBeInPlace, systemErrnoOf } from "./outcome.ts";
import { replaceFile, replaceFileAsync } from "./replace-file.ts";
import { thrownBy } from "./thrown-by.testing.ts";
import { isDiskFull } from "./write-all.ts";

const replacements: Record<string, (disk: SimulatedDisk) => Promise<unknown>> = {
  replaceFile: (disk) => Promise.resolve(thrownBy(() => replaceFile(disk, "/f", "new"))),
  replaceFileAsync: (disk) =>
    replaceFileAsync(disk, "/f", "new").then(
      () => undefined,
      (error: unknown) => error,
    ),
};
const withOld = (): SimulatedDisk => {
  const disk = new SimulatedDisk();
  disk.plant("/f", Buffer.from("old"));
  disk.fsync(disk.open("/", 0));
  return disk;
};
const contents = (disks: Iterable<SimulatedDisk>): string[] =>
  [...new Set([...disks].map((state) => state.contentOf("/f").toString()))].toSorted();

describe.each(Object.entries(replacements))("%s", (_, replace) => {
  it("I69 I109 says, whichever call fails, what is in place and whether a power cut changes that", async () => {
    const calls: CallName[] = [];
    const first = withOld();
    first.onCall = (call) => void calls.push(call);
    expect(await replace(first)).toBe(undefined);
    const codes = new Set<string>();
    for (const [index, call] of calls.entries()) {
      for (const effect of ["none", "half", "all"] as const) {
        const disk = withOld();
        let count = -1;
        disk.onCall = () => {
          count += 1;
          if (count === index) disk.inject({ call, errno: "ENOSPC", effect });
        };
        const outcome = outcomeOf(await replace(disk), call);
        disk.onCall = null;
        codes.add(outcome);
        const now = disk.contentOf("/f").toString();
        const after = contents(disk.crashStates()).join();
        expect(states[outcome], `${effect} of ${call}, call ${index}`).toContain(`${now}, then ${after}`);
        expect(disk.readdir("/")).toEqual(["f"]);
        // Done again, it is as if it had not failed.
        expect(await replace(disk)).toBe(undefined);
        expect(contents(disk.crashStates())).toEqual(["new"]);
      }
    }
    expect(codes).toEqual(new Set(["not_replaced", "replaced", "replaced_not_durable"]));
  });
});

const lost = (effect: "none" | "all"): SimulatedDisk => {
  const disk = withOld();
  disk.inject({ call: "rename", errno: "ESTALE", effect });
  return disk;
};

describe.each(Object.entries(replacements))("%s, where the disk does not answer", (_, replace) => {
  it.each(["open", "fstat", "read", "close"] as const)(
    "I109 is certain of nothing when the rename's reply is lost and %s of the look fails",
    async (call) => {
      const disk = lost("all");
      disk.inject({ call, errno: "EIO", pathEnds: "/f" });
      const error = await replace(disk);
      expect(error).toMatchObject({ code: "maybe_replaced", data: { path: "/f" }, cause: { code: "ESTALE" } });
      expect([isInPlace(error), mayBeInPlace(error), systemErrnoOf(error)]).toEqual([false, true, "ESTALE"]);
      expect([await replace(disk), contents(disk.crashStates())]).toEqual([undefined, ["new"]]);
    },
  );

  it("I109 knows without a look that a rename was not done whose source it could remove", async () => {
    const disk = lost("none");
    disk.inject({ call: "open", errno: "EIO", pathEnds: "/f" });
    expect(await replace(disk)).toMatchObject({ code: "not_replaced", cause: { code: "ESTALE" } });
    expect([disk.readdir("/"), disk.contentOf("/f").toString()]).toEqual([["f"], "old"]);
  });

  it("I109 does not call a rename undone that can still be done, as its source could not be removed", async () => {
    const disk = lost("none");
    disk.inject({ call: "unlink", errno: "EIO" });
    expect(await replace(disk)).toMatchObject({ code: "maybe_replaced" });
    const done = lost("all");
    done.inject({ call: "unlink", errno: "EIO" });
    expect([await replace(done), contents(done.crashStates())]).toEqual([undefined, ["new"]]);
  });

  it("I109 has removed the source of a lost rename before it looks, so that it cannot be done behind the look", async () => {
    const disk = lost("none");
    const late: string[] = [];
    disk.onCall = (call, path) => {
      if (call === "open" && path === "/f") late.push(disk.readdir("/").join());
    };
    disk.inject({ call: "unlink", errno: "ENOENT", effect: "all" });
    expect(await replace(disk)).toMatchObject({ code: "not_replaced" });
    expect(late).toEqual(["f"]);
  });
});

/** What may be there, and after a power cut. Of a directory whose sync only says that it failed, all is durable. */
const states: Readonly<Record<string, readonly string[]>> = {
  replaced: ["new, then new"],
  not_replaced: ["old, then old"],
  replaced_not_durable: ["new, then new,old", "new, then new"],
};

function outcomeOf(error: unknown, call: CallName): string {
  if (error === undefined) return "replaced";
  assert(error instanceof CodedError);
  expect([isDiskFull(error), systemErrnoOf(error)]).toEqual([true, "ENOSPC"]);
  expect(isInPlace(error)).toBe(error.code === "replaced_not_durable");
  expect(error).toMatchObject({ data: { path: "/f" }, cause: { code: "ENOSPC" } });
  expect(error.message).toContain(`ENOSPC: simulated, ${call}`);
  return error.code;
}

it.each(["write", "fsync", "rename", "fchmod", "lstat"] as const)(
  "leaves no open descriptor behind an error of %s",
  (call) => {
    const disk = new SimulatedDisk();
    disk.inject({ call, errno: "EIO" });
    expect(thrownBy(() => replaceFile(disk, "/f", "new"))).toMatchObject({ code: "not_replaced" });
    expect(disk.openDescriptors).toBe(0);
  },
);
