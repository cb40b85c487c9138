import { constants } from "node:os";
import { getSystemErrorName } from "node:util";
import { describe, expect, it } from "vitest";
import { checked, systemError } from "./call.ts";
import type { Koffi } from "./koffi.ts";

/** A function of the C library that gives -1 with each of these errnos in turn, and then 7. */
function failing(...errnos: number[]): { readonly koffi: Koffi; readonly call: () => number; readonly made: number[] } {
  const made: number[] = [];
  const call = (): number => {
    made.push(made.length);
    return made.length <= errnos.length ? -1 : 7;
  };
  const koffi: Koffi = {
    load: () => ({ func: () => () => 0 }),
    errno: () => errnos[made.length - 1] ?? 0,
    os: { errno: constants.errno },
    node: { poll: () => ({ unref: () => {} }) },
  };
  return { koffi, call, made };
}

it("names errors as Node does, also where a number has two names", () => {
  for (const errno of [constants.errno.EAGAIN, constants.errno.ENOTSUP]) {
    expect(systemError("read", errno)).toMatchObject({ code: getSystemErrorName(-errno) });
  }
});

describe("checked", () => {
  it("gives what the call gives", () => {
    const { koffi, call } = failing();
    expect(checked(koffi, "poll", call)).toBe(7);
  });

  it("makes a call again that a signal has interrupted, as often as it takes", () => {
    const { koffi, call, made } = failing(constants.errno.EINTR, constants.errno.EINTR);
    expect(checked(koffi, "poll", call)).toBe(7);
    expect(made).toHaveLength(3);
  });

  it("throws any other failure in the shape of Node's own errors", () => {
    const { koffi, call, made } = failing(constants.errno.EINTR, constants.errno.EBADF);
    expect(() => checked(koffi, "pidfd_open", call)).toThrow(
      expect.objectContaining({ code: "EBADF", syscall: "pidfd_open", message: "pidfd_open: EBADF" }),
    );
    expect(made).toHaveLength(2);
  });

  it("names an errno that Node does not know by its number", () => {
    const { koffi, call } = failing(4_000);
    expect(() => checked(koffi, "ioctl", call)).toThrow(expect.objectContaining({ code: "E4000" }));
  });
});
