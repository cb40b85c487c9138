import { Worker } from "@holdfast/session-worker/testing";
import type { WorkerWorld } from "@holdfast/session-worker/testing";
import { WORKER_PROTOCOL_VERSION, workerOrdersSchema } from "@holdfast/session-worker/transport";
import { ProcessFiles } from "./process-files.ts";
import { SimAgent } from "./sim-agent.ts";
import type { SimProcess } from "./sim-process.ts";
import type { World } from "./world.ts";

/** The worker's program, from the word at its gate on. */
export function runWorker(world: World, process: SimProcess, word: string): void {
  const orders = workerOrdersSchema.parse(JSON.parse(word));
  if (orders.protocol !== WORKER_PROTOCOL_VERSION) return process.end();
  const { sessionId } = orders;
  const { machine } = process;
  const surroundings: WorkerWorld = {
    ports: machine.portsOf(process),
    fs: new ProcessFiles(world, process),
    clock: machine.clockOf(process),
    ids: world.ids,
    observer: machine.observerOf(process),
    listenerOf: ({ path, onConnection }) => ({
      bind: () => {
        process.touch("bind");
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a worker uses no more of a socket than its stream
        world.network.listen(path, { process, onConnection: onConnection as (stream: object) => void });
        return Promise.resolve();
      },
      get isReachable() {
        return world.network.isReachable(path, process);
      },
      close: () => {
        if (process.isAlive) world.network.close(path, process);
      },
    }),
    agentOf: (options) => {
      world.checks.serves(sessionId, process);
      return new SimAgent(world, process, options);
    },
    say: (text) => world.trace(`${process.label} says: ${text}`),
    start: ({ successorOf }) => {
      process.touch("start supervisor");
      world.startSupervisor(machine, successorOf);
      const started = { onExit: () => ({ [Symbol.dispose]: () => undefined }), unref: () => undefined };
      return Promise.resolve({ kind: "spawned", process: started });
    },
  };
  const worker = new Worker({ orders, world: surroundings });
  process.onTerminate = () => worker.close("SIGTERM");
  const end = (): void => process.end();
  worker
    .listen()
    .then(() => worker.ended, end)
    .then(end, end);
}
