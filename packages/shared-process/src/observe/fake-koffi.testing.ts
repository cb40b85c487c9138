import { invariant } from "../errors.ts";
import type { Koffi, KoffiLibrary } from "./koffi-type.ts";

export type Value = Parameters<ReturnType<KoffiLibrary["func"]>>[number];
export type Call = (...values: Value[]) => unknown;

export interface FakeKoffi extends Koffi {
  /** What `errno()` gives. */
  lastErrno: number;
  /** Each call by its C name, with its numbers. */
  readonly calls: string[];
}

/** All system libraries as one table of functions by their C names; one that is not in it does not load. */
export function fakeKoffi(functions: Readonly<Record<string, Call>>): FakeKoffi {
  const koffi: FakeKoffi = {
    lastErrno: 0,
    calls: [],
    errno: () => koffi.lastErrno,
    os: { errno: { EPERM: 1, ESRCH: 3, EINVAL: 22 } },
    load: () => ({
      func: (signature) => {
        const name = /(\w+)\(/.exec(signature)?.[1] ?? "";
        const call = functions[name];
        invariant(call !== undefined, `the library has ${name}`);
        return (...values) => {
          koffi.calls.push([name, ...values.filter((value) => typeof value === "number")].join(" "));
          return call(...values);
        };
      },
    }),
  };
  return koffi;
}

/** The memory behind a pointer. */
export function bytes(value: Value | undefined): Buffer {
  invariant(Buffer.isBuffer(value), "a pointer is given a buffer");
  return value;
}
