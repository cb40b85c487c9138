import type { Wanted } from "@holdfast/session-worker/transport";
import type { DescriptorShape } from "../descriptor.ts";
import type { Goal, LaunchTime, State, StateNamed } from "./state.ts";

/** What must be on disk before a state is visible (DESIGN §3.1). `keep`: the descriptor stays what it was. */
export interface DurableShape {
  readonly wanted: Wanted;
  readonly descriptor: DescriptorShape | "keep" | "none";
  /** Kept in the session's own record, since a launch may fail before it has a descriptor. */
  readonly failure: Pick<StateNamed<"failed">, "code" | "reason"> | null;
  /** Likewise: written before the spawn, so that a supervisor that ends in it, again and again, spends the budget (I154). */
  readonly launches: readonly LaunchTime[];
}

export const wantedAfter: Record<Goal, Wanted> = {
  stop: "stopped",
  archive: "archived",
  passivate: "passive",
  replace: "running",
};

/** The table *state → durable records*; the writer derives every file from it, so that no other shape can be written (I82). */
export const durableShape = (state: State): DurableShape => ({
  ...placed(state),
  failure: state.name === "failed" ? { code: state.code, reason: state.reason } : null,
  launches: state.name === "passivated" ? [] : state.launches,
});

function placed(state: State): Omit<DurableShape, "failure" | "launches"> {
  switch (state.name) {
    case "launching":
      return { wanted: "running", descriptor: "keep" };
    case "starting":
      return {
        wanted: "running",
        descriptor: { lifecycle: "starting", process: state.process, launches: state.launches },
      };
    case "ready":
    case "reconnecting":
      return {
        wanted: "running",
        descriptor: { lifecycle: "ready", process: state.process, launches: state.launches },
      };
    case "recovering": {
      const { process, launches } = state;
      return { wanted: "running", descriptor: process ? { lifecycle: "recovering", process, launches } : "none" };
    }
    case "stopping":
    case "finalizing": {
      const { process, launches, intent } = state;
      const wanted = wantedAfter[intent.goal];
      // Before its spawn has answered there is no process to name; its gate stays shut.
      return { wanted, descriptor: process ? { lifecycle: "ready", process, launches, stop: intent } : "keep" };
    }
    case "failed": {
      const { process, launches, reason, code } = state;
      return {
        wanted: "running",
        descriptor: process ? { lifecycle: "failed", process, launches, reason, code } : "none",
      };
    }
    case "passivated":
      return { wanted: "passive", descriptor: "none" };
  }
}
