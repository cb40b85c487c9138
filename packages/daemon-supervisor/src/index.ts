export { durableShape, type DurableShape } from "./lifecycle/durable.ts";
export { bootTable, decideBoot, type BootDecision, type Found } from "./lifecycle/boot.ts";
export { reduce, type Reduced } from "./lifecycle/reduce.ts";
export type { Decision, Effect, Event, Goal, State, StopIntent, WorkerProcess } from "./lifecycle/state.ts";
export { transitions } from "./lifecycle/transitions.ts";
export { runSupervisor, type SupervisorOptions } from "./main.ts";
