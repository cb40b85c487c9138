import { invariant } from "@holdfast/shared-process";
import type { Wanted } from "@holdfast/session-worker/transport";
import type { Goal } from "./state.ts";

/** What a supervisor finds of one session at its start, without asking anybody. */
export interface Found {
  /** `ended`: of an older form, whose process is proven gone or who rests; its file goes with the first record of ours. */
  readonly record: "damaged" | "none" | "ended" | "failed" | "process";
  readonly wanted: Wanted;
  readonly intent: Goal | null;
  readonly verdict: "current" | "unknown" | "gone";
}

export type BootDecision =
  | "quarantine"
  | "leave"
  | "stay_failed"
  | "stay_passivated"
  | "launch"
  | "recover"
  | "continue_stop"
  | "finalize"
  | "reconnect";

interface BootRow {
  readonly name: string;
  readonly fires: (found: Found) => boolean;
  readonly decision: BootDecision;
}

const ending = ({ intent, wanted }: Found): boolean => intent !== null || wanted !== "running";
const unnamed = ({ record, intent }: Found): boolean => (record === "none" || record === "ended") && intent === null;
const withProcess = ({ record }: Found): boolean => record === "process";

/**
 * DESIGN §3.2; the test shows that exactly one row fires for every input. What a hello adds (serving: adopt; blank: start or replace)
 * are the cells of `reconnecting`, so that a silent worker keeps nobody waiting at the start.
 */
export const bootTable: readonly BootRow[] = [
  { name: "damaged", fires: ({ record }) => record === "damaged", decision: "quarantine" },
  { name: "failed, left to a person", fires: (f) => f.record === "failed" && !ending(f), decision: "stay_failed" },
  { name: "failed, but to be ended", fires: (f) => f.record === "failed" && ending(f), decision: "finalize" },
  {
    // Written as a bare name on a full disk, before there was a descriptor or after it went (I130).
    name: "its stop is to be finished",
    fires: ({ record, intent }) => (record === "none" || record === "ended") && intent !== null,
    decision: "finalize",
  },
  {
    // Only so does the older record go: a later start must not find a stranger by its number.
    name: "rests stopped, beside an older record",
    fires: (f) => unnamed(f) && f.record === "ended" && (f.wanted === "stopped" || f.wanted === "archived"),
    decision: "finalize",
  },
  {
    name: "rests stopped",
    fires: (f) => unnamed(f) && f.record === "none" && (f.wanted === "stopped" || f.wanted === "archived"),
    decision: "leave",
  },
  {
    name: "rests passive",
    fires: (f) => unnamed(f) && f.wanted === "passive",
    decision: "stay_passivated",
  },
  {
    name: "was to be launched",
    fires: (f) => unnamed(f) && f.wanted === "running",
    decision: "launch",
  },
  {
    // Unknown is signalled by nobody and asked over its channel, like one that is current (I23, I134).
    name: "its stop goes on",
    fires: (f) => withProcess(f) && ending(f) && f.verdict !== "gone",
    decision: "continue_stop",
  },
  { name: "its stop is over", fires: (f) => withProcess(f) && ending(f) && f.verdict === "gone", decision: "finalize" },
  {
    // Slow is not dead, and what cannot be told is watched: both wait for the worker, for as long as it takes.
    name: "may live",
    fires: (f) => withProcess(f) && !ending(f) && f.verdict !== "gone",
    decision: "reconnect",
  },
  { name: "gone", fires: (f) => withProcess(f) && !ending(f) && f.verdict === "gone", decision: "recover" },
];

export function decideBoot(found: Found): BootDecision {
  const row = bootTable.find(({ fires }) => fires(found));
  invariant(row, `no boot row for ${JSON.stringify(found)}`);
  return row.decision;
}
