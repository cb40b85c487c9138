import type { SessionRow, SessionState, WaitCondition } from "./rows.ts";

type Judged = Pick<SessionRow, "state" | "activity" | "openOperations">;

/** Where nothing runs although nothing is wrong and nothing is under way. */
const resting: readonly SessionState[] = ["ready", "passivated", "stopped"];

const conditions = {
  idle: ({ state, activity, openOperations }) => resting.includes(state) && activity === "idle" && openOperations === 0,
  needs_input: ({ activity }) => activity === "needs_input",
  stopped: ({ state }) => state === "stopped",
  failed: ({ state }) => state === "failed",
} as const satisfies Record<WaitCondition, (row: Judged) => boolean>;

/** Whether a session is as `wait` asks. The one judgement, of the daemon and of readers without one. */
export const meets = (row: Judged, condition: WaitCondition): boolean => conditions[condition](row);
