export { run, type RunOptions, type RunReport } from "./run.ts";
export { type FaultKind, faultKinds, type Swarm } from "./swarm.ts";
