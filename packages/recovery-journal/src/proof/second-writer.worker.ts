import { invariant } from "@holdfast/shared-process";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { JournalModel } from "../testing/journal-model.ts";
import { RemoteDisk, send, type Wire } from "./remote-disk.ts";
import type { SecondRun, SecondWriterData } from "./second-writer.ts";
import { runWorkload, type Step } from "../testing/workload.ts";

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
  const model = new JournalModel();
  let read: readonly string[] | null = null;
  try {
    await runWorkload(new RemoteDisk(wire), steps, model, {
      owner: "second",
      onOpened: (journal) => (read ??= journal.open().map(({ operationId }) => operationId)),
    });
    return { model, read, error: null };
  } catch (error) {
    return { model, read, error: String(error) };
  }
}
