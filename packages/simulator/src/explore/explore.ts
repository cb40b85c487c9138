import { reduce } from "@holdfast/daemon-supervisor/testing";
import type { Effect, State } from "@holdfast/daemon-supervisor/testing";
import { applyEffects, choices } from "./model.ts";
import type { Choice, Model } from "./model.ts";

export interface Exploration {
  readonly states: number;
  readonly steps: number;
  /** Each with the way to it. */
  readonly violations: readonly string[];
  /** Hits per cell: `state event outcome`. */
  readonly cells: ReadonlyMap<string, number>;
}

export interface ExploreOptions {
  /** Steps from the beginning. */
  readonly depth: number;
  /** Orders of each of the clients. */
  readonly orders: readonly number[];
  /** It ends with so many; default 1. */
  readonly mostViolations?: number;
}

interface Reached {
  readonly model: Model;
  readonly way: readonly string[];
}

/** Every interleaving of one worker with its clients, up to a depth: breadth first, each situation once. */
export function explore({ depth, orders, mostViolations = 1 }: ExploreOptions): Exploration {
  const launching = { name: "launching", generation: "g1", launches: [], due: null } as const;
  const first: Model = {
    state: launching,
    worker: null,
    pending: [{ type: "spawn", generation: "g1" }],
    left: orders,
    wanted: "running",
  };
  const seen = new Set([keyOf(first)]);
  const cells = new Map<string, number>();
  const violations: string[] = [];
  let steps = 0;
  let frontier: Reached[] = [{ model: first, way: [] }];
  for (let step = 0; step < depth && violations.length < mostViolations; step += 1) {
    const next: Reached[] = [];
    for (const { model, way } of frontier) {
      if (isStuck(model)) violations.push(`stuck as ${model.state?.name}: ${way.join(" · ")}`);
      for (const choice of choices(model)) {
        steps += 1;
        const taken = take(model, choice, cells);
        const path = [...way, choice.label];
        if (typeof taken === "string") {
          violations.push(`${taken}: ${path.join(" · ")}`);
          continue;
        }
        const key = keyOf(taken);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push({ model: taken, way: path });
      }
    }
    frontier = next;
  }
  return { states: seen.size, steps, violations, cells };
}

/** The order of what is pending says nothing. */
const keyOf = (model: Model): string =>
  JSON.stringify({ ...model, pending: model.pending.map((one) => JSON.stringify(one)).toSorted() });

/** The next situation, or what is wrong with the step. */
function take(model: Model, choice: Choice, cells: Map<string, number>): Model | string {
  const { event, worker, pending, left } = choice;
  const moved = { ...model, worker, pending, left };
  const { state } = model;
  if (event === null || state === null) return moved;
  let decision: ReturnType<typeof reduce>;
  try {
    decision = reduce(state, event, 0);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const cell = `${state.name} ${event.type} ${decision.kind}`;
  if (decision.kind !== "stale") cells.set(cell, (cells.get(cell) ?? 0) + 1);
  const isAlive = worker !== null && worker.life !== "gone";
  if (decision.kind === "remove") return isAlive ? "removed while its worker lives (I16)" : { ...moved, state: null };
  if (decision.kind !== "move") return moved;
  const wrong = wrongEffect(decision.effects, isAlive) ?? wrongState(model, event.type, decision.state, isAlive);
  if (wrong !== null) return wrong;
  const wanted = event.type === "resume" ? "running" : isStop(decision.state) ? "stopped" : model.wanted;
  return applyEffects({ ...moved, state: decision.state, wanted }, decision.effects);
}

const isEnding = (state: State): state is Extract<State, { name: "stopping" | "finalizing" }> =>
  state.name === "stopping" || state.name === "finalizing";

const isStop = (state: State): boolean =>
  isEnding(state) && (state.intent.goal === "stop" || state.intent.goal === "archive");

function wrongEffect(effects: readonly Effect[], isAlive: boolean): string | null {
  if (!isAlive) return null;
  for (const { type } of effects) {
    if (type === "spawn") return "launched beside a worker that lives (I144)";
    if (type === "settle") return "its journal is taken while its worker lives (I144)";
    if (type === "finalize") return "cleaned up while its worker lives (I16)";
  }
  return null;
}

function wrongState({ wanted }: Model, event: string, after: State, isAlive: boolean): string | null {
  if (after.name === "passivated" && isAlive) return "passivated while its worker lives (I82)";
  if (wanted === "stopped" && event !== "resume" && !isStop(after)) return "brought back by nobody's order (I129)";
  return null;
}

/** It waits, and nothing that it waits for can come (I1, I137). */
function isStuck({ state, worker, pending }: Model): boolean {
  const isAsked = (type: Model["pending"][number]["type"]): boolean => pending.some((one) => one.type === type);
  const hasWorker = worker !== null && (worker.life !== "gone" || worker.untold);
  switch (state?.name) {
    case undefined:
    case "failed":
    case "passivated":
      return false;
    case "launching":
      return !isAsked("spawn");
    case "ready":
      return !hasWorker;
    case "reconnecting":
      return !hasWorker;
    case "recovering":
      return state.due === null && !isAsked("settle");
    case "starting":
      return state.due === null;
    case "stopping":
      return state.due === null && !isAsked("spawn");
    case "finalizing":
      return state.due === null && !isAsked("finalize");
  }
}
