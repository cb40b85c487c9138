import { enum as oneOf, number, object, optional, safeParse, string } from "zod/mini";
import { invariant } from "@holdfast/shared-process";
import type { JsonObject } from "@holdfast/recovery-journal";
import type { SettledAs } from "./store-contract.ts";

const outcomeSchema = object({
  actionId: string(),
  /** Just before the action's acceptance. */
  cursor: string(),
  outcome: oneOf(["ended", "cancelled", "interrupted"]),
  stopReason: optional(oneOf(["end_turn", "cancelled", "interrupted", "refused", "limited", "failed"])),
  exitCode: optional(number()),
  reason: optional(string()),
  steer: optional(oneOf(["injected", "interrupted", "queued"])),
});

/** `SettledAs` as a remembered request's outcome, without what is absent. */
export const outcomeOf = (actionId: string, cursor: string, as: SettledAs): JsonObject => ({
  actionId,
  cursor,
  ...Object.fromEntries(Object.entries(as).filter(([, value]) => value !== undefined)),
});

/** What `outcomeOf` wrote, in a journal that checks itself. */
export function settledOf(outcome: JsonObject): { actionId: string; cursor: string; settled: SettledAs } {
  const parsed = safeParse(outcomeSchema, outcome);
  invariant(parsed.success, "a remembered outcome is one of ours");
  const { actionId, cursor, outcome: as, stopReason, exitCode, reason, steer } = parsed.data;
  const settled = {
    outcome: as,
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(reason === undefined ? {} : { reason }),
    ...(steer === undefined ? {} : { steer }),
  };
  return { actionId, cursor, settled };
}
