import { invariant } from "@holdfast/shared-process";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { JournalReport } from "../types.ts";
import type { Entry } from "./entry.ts";
import { RemoteDisk, send, type Wire } from "./remote-disk.ts";
import type { SecondRun, SecondWriterData } from "./second-writer.ts";
import { runWorkload, type Step } from "./workload.ts";

/** The second writer's thread: runs workloads against the disk of the first one's, which stands still meanwhile. */
const control: MessagePort | null = parentPort;
invariant(control !== null, "this is a worker");
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by `SecondWriter` alone
const { port, sent } = workerData as SecondWriterData;
const wire: Wire = { port, sent, sends: "toServer" };

control.on("message", (steps: readonly Step[]) => {
  void run(steps).then((result) => send(wire, { result }));
});
control.postMessage("ready", []);

async function run(steps: readonly Step[]): Promise<SecondRun> {
  const entries: Entry[] = [];
  const ledger = { take: (entry: Entry) => void entries.push(entry) };
  let read: JournalReport | null = null;
  try {
    const onOpened = (report: JournalReport): void => void (read ??= report);
    await runWorkload(new RemoteDisk(wire), steps, ledger, { owner: "second", onOpened });
    return { entries, read, error: null };
  } catch (error) {
    return { entries, read, error: String(error) };
  }
}
