import type { Notice, Ready, WatchOrder } from "../support/watcher.ts";
import { loadSharedProcess } from "../support/built.ts";
import { FOREVER, openRawPidfd } from "../support/raw-pidfd.ts";

/** Tells the end of each process that it is told to watch, with the moment at which it noticed. Does nothing else. */
const send = (message: Ready | Notice): Promise<void> =>
  new Promise((resolve) => {
    process.send?.(message, () => resolve());
  });

const noticed = (pid: number): Notice => ({ pid, at: String(process.hrtime.bigint()) });

process.on("message", ({ pids, by }: WatchOrder) => {
  void (by === "poll" ? poll(pids) : watch(pids, by));
});

/** The least that a notice takes: a program that stands still in poll(2) until its one process ends. */
async function poll(pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    using pidfd = openRawPidfd(pid);
    await send({ backend: "poll" });
    pidfd.poll(FOREVER);
    await send(noticed(pid));
  }
}

async function watch(pids: readonly number[], by: "library" | "narrow"): Promise<void> {
  const { createObserver } = await loadSharedProcess();
  const observer = createObserver(by === "narrow" ? { library: "never" } : {});
  const { backend } = observer.capabilities();
  for (const pid of pids) {
    const seen = observer.identify(pid);
    const opened = seen.kind === "identified" ? observer.open(seen.identity) : seen;
    if (opened.kind !== "opened") throw new Error(`process ${pid} cannot be held: ${opened.kind}`);
    opened.handle.onExit(() => {
      const notice = noticed(pid);
      void send(notice);
    });
  }
  await send({ backend });
}
