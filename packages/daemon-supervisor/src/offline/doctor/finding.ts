import type { Assertion, ProblemKind } from "@holdfast/client/protocol";
import type { Action, Finding } from "./seen.ts";

interface What {
  readonly kind: ProblemKind;
  readonly subject: string;
  readonly reason: string;
}

/** Nothing can be done about it from here; `repair`: what a person can do. */
export const told = (what: What, repair?: string): Finding => ({
  problem: { ...what, ...(repair === undefined ? {} : { repair }) },
  action: null,
});

export const repairable = (
  what: What,
  {
    repair,
    needs = [],
    action,
  }: { readonly repair: string; readonly needs?: readonly Assertion[]; readonly action: Action },
): Finding => ({ problem: { ...what, repair, needs }, action });
