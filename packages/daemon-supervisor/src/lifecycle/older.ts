import { invariant } from "@holdfast/shared-process";
import type { OlderLifecycle } from "../older/form.ts";
import type { StartMatch } from "../older/start-id.ts";

/** What is found of a worker record of an older form. */
export interface OlderFound {
  readonly lifecycle: OlderLifecycle | "unknown";
  /** What has the number that it names. `unnamed`: it names none. Of a passivated one nobody looks (I83). */
  readonly process: "unnamed" | "alive" | "gone" | "unreadable";
  readonly start: StartMatch;
}

/** `promote`: it is the recorded process. `ended`: that is proven gone. `rest`: it has none. */
export type OlderDecision = "quarantine" | "rest" | "promote" | "ended";

interface OlderRow {
  readonly name: string;
  readonly fires: (found: OlderFound) => boolean;
  readonly decision: OlderDecision;
}

const told = ({ lifecycle }: OlderFound): boolean => lifecycle !== "unknown" && lifecycle !== "passivated";
const alive = (found: OlderFound): boolean => told(found) && found.process === "alive";

/** Exactly one row fires for every input (I81, I84). A bare number is never an identity: whoever has it now may be a stranger. */
export const olderTable: readonly OlderRow[] = [
  { name: "its lifecycle is not known", fires: (f) => f.lifecycle === "unknown", decision: "quarantine" },
  { name: "rests, whatever number it names", fires: (f) => f.lifecycle === "passivated", decision: "rest" },
  {
    name: "recovers, and nothing of it runs",
    fires: (f) => f.lifecycle === "recovering" && f.process === "unnamed",
    decision: "ended",
  },
  {
    name: "should name a process",
    fires: (f) => told(f) && f.lifecycle !== "recovering" && f.process === "unnamed",
    decision: "quarantine",
  },
  { name: "gone", fires: (f) => told(f) && f.process === "gone", decision: "ended" },
  { name: "cannot be observed", fires: (f) => told(f) && f.process === "unreadable", decision: "quarantine" },
  { name: "the recorded process", fires: (f) => alive(f) && f.start === "equal", decision: "promote" },
  { name: "somebody else", fires: (f) => alive(f) && f.start === "different", decision: "ended" },
  {
    name: "somebody, and who cannot be told",
    fires: (f) => alive(f) && (f.start === "absent" || f.start === "unverifiable"),
    decision: "quarantine",
  },
];

export function olderRow(found: OlderFound): OlderRow {
  const row = olderTable.find(({ fires }) => fires(found));
  invariant(row, `no row for an older record ${JSON.stringify(found)}`);
  return row;
}
