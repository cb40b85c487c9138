import { forceStop } from "../../packages/daemon-supervisor/src/offline/force-stop.ts";
import { planForceStop } from "../../packages/daemon-supervisor/src/offline/force-stop-plan.ts";
import { runSupervisor } from "../../packages/daemon-supervisor/src/main.ts";
import type { Orders } from "./orders.ts";
import { momentWorld } from "./world.ts";

/** A supervisor, or a forced stop, of the shipped code in a world that stops it at one moment. Tests start it; no package has it. */
async function main(orders: Orders): Promise<number> {
  const { program, home, workerProgram, supervisorProgram } = orders;
  const world = momentWorld(orders);
  const options = { home, workerProgram, supervisorProgram, foreground: false };
  if (program === "supervisor") return await runSupervisor(options, world);
  const request = { home, all: false };
  const { failed } = await forceStop(request, planForceStop(request), { workerProgram, world });
  process.stdout.write(JSON.stringify(failed));
  return failed.length > 0 ? 1 : 0;
}

const orders: Orders = JSON.parse(process.argv[2] ?? "");
void main(orders).then((code) => process.exit(code));
