import type { ChildProcess } from "node:child_process";
import { ExitNotice } from "../exits/notice.ts";
import type { Clock, ExitInfo } from "../types.ts";

/** Of an own child. To be called in the turn of its spawn, or before Node has told its end. */
export function watchExit(child: Pick<ChildProcess, "once" | "removeListener">, clock: Clock): ExitNotice {
  const notice = new ExitNotice((ended) => {
    const listener = (code: number | null, signal: string | null): void =>
      ended({ at: clock.now(), status: statusOf(code, signal) });
    child.once("exit", listener);
    return { [Symbol.dispose]: () => void child.removeListener("exit", listener) };
  });
  // Node tells an exit once, whether or not somebody has asked by then.
  notice.begin();
  return notice;
}

function statusOf(code: number | null, signal: string | null): ExitInfo["status"] {
  if (code !== null) return { code };
  return signal === null ? null : { signal };
}
