/** What `daemon status` counts since the daemon's start. */
const counterNames = [
  "launches",
  "adoptions",
  "recoveries",
  "stops",
  "escalations",
  "signalsSent",
  "signalsRefused",
  "staleEvents",
  "interruptedActions",
] as const;
export type CounterName = (typeof counterNames)[number];
export type Counters = Record<CounterName, number>;

export const newCounters = (): Counters => ({
  launches: 0,
  adoptions: 0,
  recoveries: 0,
  stops: 0,
  escalations: 0,
  signalsSent: 0,
  signalsRefused: 0,
  staleEvents: 0,
  interruptedActions: 0,
});
