import { constants } from "node:os";
import type { Koffi } from "./koffi.ts";

/** Of several names of one number the first, which is Node's own: SIGABRT before SIGIOT, EAGAIN before EWOULDBLOCK. */
export const namesByNumber = (numbers: Readonly<Record<string, number>>): ReadonlyMap<number, string> =>
  new Map(
    Object.entries(numbers)
      .map(([name, number]) => [number, name] as const)
      .toReversed(),
  );

const errnoNames = namesByNumber(constants.errno);

/** A failed system call, in the shape of Node's own. */
export function systemError(call: string, errno: number): Error {
  const code = errnoNames.get(errno) ?? `E${errno}`;
  return Object.assign(new Error(`${call}: ${code}`), { code, errno: -errno, syscall: call });
}

/**
 * Calls a function of the C library; -1 becomes an error with the errno's name. A call that a signal to this process has
 * interrupted, its child's end among them, has done nothing and is made again.
 */
export function checked(koffi: Koffi, name: string, call: () => unknown): number {
  for (;;) {
    const value = Number(call());
    if (value !== -1) return value;
    const errno = koffi.errno();
    if (errno !== constants.errno.EINTR) throw systemError(name, errno);
  }
}
