import type { Random } from "./random.ts";

/** What can go wrong, each by itself; a seed has some of them (swarm testing: few kinds at once meet in more ways). */
export const faultKinds = [
  "kill_supervisor",
  "kill_supervisor_in_a_call",
  "kill_worker",
  "kill_worker_in_a_call",
  "kill_agent",
  "freeze_supervisor",
  "freeze_worker",
  "hide_process",
  "cut_link",
  "stall_link",
  "slow_disk",
  "full_disk",
  "disk_error",
  "cut_power",
  "step_clock",
  "remove_socket",
  "second_supervisor",
  "other_host",
  "strangers",
  "terminate_supervisor",
  "terminate_worker",
  "suspend",
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** What distinguishes the world of one seed from that of another. */
export interface Swarm {
  readonly faults: readonly FaultKind[];
  /** Between two faults, at most. */
  readonly faultEveryMs: number;
  readonly clients: number;
  readonly sessions: number;
  readonly activeMs: number;
  readonly pidCount: number;
  readonly backend: "pidfd" | "narrow";
  readonly initReaps: boolean;
  readonly spawnFailures: number;
  readonly agentFailures: number;
  /** Launches and programs that take longer than anybody waits. */
  readonly slowStarts: number;
  /** An answer that does not reach its client. */
  readonly lostAnswers: number;
  /** Longest turn of an agent. */
  readonly turnMs: number;
  /** By how much the wall clock is too fast: 0.1 is a tenth. */
  readonly drift: number;
}

export function swarmOf(random: Random): Swarm {
  const share = random.pick([0, 0.1, 0.25, 0.5]);
  const initReaps = random.chance(0.8);
  return {
    faults: faultKinds.filter(() => random.chance(share)),
    faultEveryMs: random.pick([100, 400, 1_500]),
    clients: random.between(1, 4),
    sessions: random.between(1, 4),
    activeMs: random.pick([2_000, 5_000, 15_000]),
    // Zombies that nobody waits for keep their numbers.
    pidCount: initReaps ? random.pick([40, 80, 4_000]) : 4_000,
    backend: random.pick(["pidfd", "pidfd", "pidfd", "narrow"]),
    initReaps,
    spawnFailures: random.chance(0.2) ? 0.2 : 0,
    agentFailures: random.chance(0.2) ? 0.2 : 0,
    slowStarts: random.chance(0.2) ? 0.15 : 0,
    lostAnswers: random.chance(0.4) ? 0.2 : 0,
    turnMs: random.pick([20, 500, 5_000]),
    drift: random.pick([0, 0, 0.1, -0.1]),
  };
}
