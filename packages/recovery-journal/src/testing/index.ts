export type { CrashOptions } from "./crash-states.ts";
export { type CallName, type InjectedFault, SimulatedDisk } from "./simulated-disk.ts";
export {
  openSimulated,
  SIMULATED_DIRECTORY,
  SIMULATED_KINDS,
  type SimulatedKind,
  simulatedOptions,
} from "./open-simulated.ts";
