import { constants } from "node:fs";
import type { DirectoryCalls } from "./calls.ts";

/** Of the kernel's `fcntl.h`; Node does not name it. The number is the same wherever Linux has its generic one. */
export const O_PATH = 0o10000000;
/** Opens a place, not its content: needs no permission to read it and starts nothing that a device or a FIFO would. */
export const AS_DIRECTORY = O_PATH | constants.O_DIRECTORY;

/** The path of an open file itself, whatever its name is by now. */
export const pathOf = (descriptor: number): string => `/proc/self/fd/${descriptor}`;

/** A name in an open directory: the kernel starts there, and nothing above can be swapped meanwhile. */
export const below = (directory: number, name: string): string => `${pathOf(directory)}/${name}`;

/**
 * Closes for certain: on Linux a descriptor is gone also when `close` says an error, which concerns written data alone.
 */
export function closeDescriptor(calls: DirectoryCalls, descriptor: number): void {
  try {
    calls.close(descriptor);
  } catch {
    // Nothing was written through it.
  }
}
