export type Unit = "ms" | "µs" | "MiB" | "%" | "per s" | "per record" | "calls" | "signals";

export type Target =
  | { readonly of: "value" | "ratio"; readonly atMost: number }
  | { readonly of: "value" | "ratio"; readonly atLeast: number };

/** What one benchmark found. `floor` is what the machine itself takes for the same, measured in the same run. */
export interface Measured {
  readonly name: string;
  readonly unit: Unit;
  readonly value: number;
  readonly floor?: number;
  readonly target?: Target;
  readonly note?: string;
}

export interface Row {
  readonly name: string;
  readonly unit: Unit;
  readonly value: number;
  readonly floor: number | null;
  readonly ratio: number | null;
  readonly target: string | null;
  readonly met: boolean | null;
  readonly note: string | null;
}

export function judged({ name, unit, value, floor, target, note }: Measured): Row {
  // An idle program may use no CPU at all.
  const ratio = floor === undefined || floor === 0 ? null : value / floor;
  const seen = target?.of === "ratio" ? ratio : value;
  return {
    name,
    unit,
    value,
    floor: floor ?? null,
    ratio,
    target: target ? textOf(target, unit) : null,
    met: target && seen !== null ? meets(target, seen) : null,
    note: note ?? null,
  };
}

const meets = (target: Target, seen: number): boolean =>
  "atMost" in target ? seen <= target.atMost : seen >= target.atLeast;

function textOf(target: Target, unit: Unit): string {
  const limit = "atMost" in target ? `≤ ${target.atMost}` : `≥ ${target.atLeast}`;
  return target.of === "ratio" ? `${limit} ×` : `${limit} ${unit}`;
}
