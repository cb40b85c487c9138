import { Client } from "./client.ts";
import { planFaults } from "./faults.ts";
import { checkEnd } from "./final-checks.ts";
import { Ledger } from "./ledger.ts";
import { Random } from "./random.ts";
import { swarmOf } from "./swarm.ts";
import type { Swarm } from "./swarm.ts";
import { Ended } from "./world/sim-process.ts";
import { World } from "./world/world.ts";

export interface RunOptions {
  readonly seed: number;
  /** After so many steps it ends, wherever it is. Default 200,000. */
  readonly steps?: number;
  readonly swarm?: Partial<Swarm>;
  /** Called with each line of the trace. */
  readonly onLine?: (line: string) => void;
}

export interface RunReport {
  readonly seed: number;
  readonly swarm: Swarm;
  readonly steps: number;
  readonly violations: readonly string[];
  readonly lines: readonly string[];
  readonly cells: ReadonlyMap<string, number>;
}

const MOST_STEPS = 200_000;
/** After the last fault: longer than a freeze, a stop of a silent worker, its clean-up and a relaunch, one after the other. */
const CALM_MS = 180_000;

/** Whoever has ended in the middle of a call waits for nothing any more; everything else that nobody waits for is a bug. */
function watchRejections(world: World): Disposable {
  const look = (reason: unknown): void => {
    if (reason instanceof Ended) return;
    world.checks.violated(
      `nobody waits for: ${reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)}`,
    );
  };
  process.on("unhandledRejection", look);
  return { [Symbol.dispose]: () => void process.off("unhandledRejection", look) };
}

/** One world from its beginning until it has come to rest. The same seed gives the same lines. */
export async function run({ seed, steps: most = MOST_STEPS, swarm: given, onLine }: RunOptions): Promise<RunReport> {
  const swarm = { ...swarmOf(new Random(seed ^ 0x5eed)), ...given };
  const world = new World(seed, swarm);
  if (onLine) world.onLine = onLine;
  world.trace(`seed ${seed} ${JSON.stringify(swarm)}`);
  const ledger = new Ledger(world);
  const clients = Array.from({ length: swarm.clients }, (_none, index) => new Client(world, ledger, `c${index + 1}`));
  planFaults(world);
  const rejections = watchRejections(world);
  let steps = 0;
  const until = async (end: number, isOver: () => boolean = () => false): Promise<void> => {
    while (steps < most && !isOver() && (await world.scheduler.step(end)) !== null) steps += 1;
  };
  await until(swarm.activeMs);
  world.calm();
  await until(world.scheduler.now + CALM_MS);
  const busy = clients.filter(({ isBusy }) => isBusy);
  if (steps < most) {
    if (busy.length > 0) world.checks.violated(`${busy.length} requests are still without an answer`);
    try {
      await checkRest(world, ledger, until);
    } catch (error) {
      world.checks.violated(`what is left cannot be read: ${String(error)}`);
    }
  }
  rejections[Symbol.dispose]();
  const { violations } = world.checks;
  return { seed, swarm, steps, violations, lines: world.lines, cells: world.cells };
}

type Until = (end: number, isOver?: () => boolean) => Promise<void>;

/** Asks the supervisor, or one that comes now, for its sessions. */
async function checkRest(world: World, ledger: Ledger, until: Until): Promise<void> {
  if (world.serving() === null) {
    world.startSupervisor();
    await until(world.scheduler.now + CALM_MS);
  }
  const supervisor = world.serving();
  if (supervisor === null) {
    world.checks.violated("I139 no supervisor serves the home");
    return;
  }
  let isDone = false;
  const listed = supervisor.call("session/list", { archived: true, limit: 1_000 }).finally(() => (isDone = true));
  await until(world.scheduler.now + 1_000, () => isDone);
  checkEnd(world, ledger, (await listed).sessions);
}
