import { closeSync } from "node:fs";
import { createRequire } from "node:module";
import type { Koffi } from "../../packages/shared-process/src/library/koffi.ts";

const PIDFD_OPEN = 434;
const POLLIN = 0x1;
/** poll(2) takes it for no end of waiting. */
export const FOREVER = -1;

export interface RawPidfd extends Disposable {
  /** True when the process has ended. Blocks for that long. */
  readonly poll: (timeoutMs: number) => boolean;
}

/** pidfd_open(2) and poll(2) and nothing around them: what the kernel and the library take for it, at least. */
export function openRawPidfd(pid: number): RawPidfd {
  const koffi: Koffi = createRequire(new URL("../../packages/shared-process/package.json", import.meta.url))("koffi");
  const library = koffi.load(null);
  const syscall = library.func("long syscall(long number, long a, long b, long c, long d)");
  const poll = library.func("int poll(void *fds, unsigned long count, int timeout)");
  const fd = Number(syscall(PIDFD_OPEN, pid, 0, 0, 0));
  if (fd < 0) throw new Error(`pidfd_open of ${pid} failed with errno ${koffi.errno()}`);
  const polled = new Int32Array(2);
  return {
    poll: (timeoutMs) => {
      polled[0] = fd;
      polled[1] = POLLIN;
      return Number(poll(polled, 1, timeoutMs)) > 0;
    },
    [Symbol.dispose]: () => closeSync(fd),
  };
}
