import { bootTable } from "../../packages/daemon-supervisor/src/lifecycle/boot.ts";
import { durableShape } from "../../packages/daemon-supervisor/src/lifecycle/durable.ts";
import { reduce } from "../../packages/daemon-supervisor/src/lifecycle/reduce.ts";
import type { Reduced } from "../../packages/daemon-supervisor/src/lifecycle/reduce.ts";
import { sampleEvents, sampleStates } from "../../packages/daemon-supervisor/src/lifecycle/samples.testing.ts";
import { stateNames } from "../../packages/daemon-supervisor/src/lifecycle/state.ts";
import type { Event, EventType, State, StateName } from "../../packages/daemon-supervisor/src/lifecycle/state.ts";
import { transitions } from "../../packages/daemon-supervisor/src/lifecycle/transitions.ts";
import { GENERATED, code, codes, fence, page, table } from "./markdown.ts";

const isEventType = (key: string): key is EventType => Object.hasOwn(sampleEvents, key);
/** All of them: the samples have a member for each. */
const eventTypes = Object.keys(sampleEvents).filter(isEventType);

const NOW = 1_000;

type Kind = "move" | "ignore" | "deny" | "impossible";
interface Cell {
  readonly next: readonly (StateName | "end")[];
  readonly text: string;
  readonly kinds: readonly Kind[];
}

/** What a cell says, or, where it is a function, everything it answers to the samples. */
function cellOf(name: StateName, type: EventType): Cell {
  const rule = transitions[name][type];
  if (typeof rule !== "function") {
    if ("ignore" in rule) return { next: [], kinds: ["ignore"], text: `ignore: ${rule.ignore}` };
    if ("deny" in rule) return { next: [], kinds: ["deny"], text: `deny ${code(rule.deny)}: ${rule.why}` };
    return { next: [], kinds: ["impossible"], text: `impossible: ${rule.impossible}` };
  }
  const answers = sampleStates[name].flatMap((state: State) =>
    sampleEvents[type](state)
      .flatMap(withoutEnvironment)
      .map((event) => reduce(state, event, NOW)),
  );
  const next = unique(answers.flatMap(nextOf)).toSorted((one, other) => order(one) - order(other));
  const moves = next.length > 0 ? [`move: ${next.map((to) => (to === name ? "stays" : code(to))).join(", ")}`] : [];
  const others = unique(answers.flatMap(refusalOf));
  const found = unique(answers.map(({ kind }) => (kind === "remove" ? "move" : kind)));
  const kinds = (["move", "ignore", "deny"] as const).filter((kind) => found.includes(kind));
  return { next, kinds, text: [...moves, ...others].join(" · ") };
}

/** The same event once more, where values of the environment are missing. */
const withoutEnvironment = (event: Event): Event[] =>
  "fresh" in event ? [event, { ...event, fresh: { ...event.fresh, missingEnvironment: ["KEY"] } }] : [event];

const nextOf = (answer: Reduced): (StateName | "end")[] =>
  answer.kind === "move" ? [answer.state.name] : answer.kind === "remove" ? ["end"] : [];

const refusalOf = (answer: Reduced): string[] =>
  answer.kind === "ignore"
    ? [`ignore: ${answer.why}`]
    : answer.kind === "deny"
      ? [`deny ${code(answer.code)}: ${answer.why}`]
      : [];

const order = (name: StateName | "end"): number => (name === "end" ? stateNames.length : stateNames.indexOf(name));

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

const marks: Record<Kind, string> = { move: "→", ignore: "·", deny: "✗", impossible: "–" };

/** The whole table at one look: events down, states across. */
export function lifecycleOverview(): string {
  const rows = eventTypes.map((type) => [
    code(type),
    ...stateNames.map((name) =>
      cellOf(name, type)
        .kinds.map((kind) => marks[kind])
        .join(" "),
    ),
  ]);
  return table(["event", ...stateNames], rows);
}

/** Every move that the samples find, without those that stay in their state. */
export function lifecycleDiagram(): string {
  const edges = new Map<string, EventType[]>([["[*] --> launching", []]]);
  for (const name of stateNames)
    for (const type of eventTypes)
      for (const to of cellOf(name, type).next) {
        const edge = `${name} --> ${to === "end" ? "[*]" : to}`;
        if (to !== name) edges.set(edge, [...(edges.get(edge) ?? []), type]);
      }
  const lines = [...edges].map(([edge, types]) => `  ${edge}: ${types.join(", ") || "session new"}`);
  return fence("mermaid", ["stateDiagram-v2", ...lines].join("\n"));
}

function stateTable(name: StateName): string {
  return table(
    ["event", "answer"],
    eventTypes.map((type) => [code(type), cellOf(name, type).text]),
  );
}

function durableTable(): string {
  const rows = stateNames.map((name) => {
    const shapes = sampleStates[name].map((state: State) => durableShape(state));
    const descriptors = shapes.map(({ descriptor }) =>
      typeof descriptor === "string" ? descriptor : `${descriptor.lifecycle}${descriptor.stop ? " + stop intent" : ""}`,
    );
    return [code(name), codes(unique(shapes.map(({ wanted }) => wanted))), unique(descriptors).join(" or ")];
  });
  return table(["state", "`wanted` in `session.json`", "descriptor `workers/<sessionId>.json`"], rows);
}

const bootRows = (): string =>
  table(
    ["what is found", "decision"],
    bootTable.map(({ name, decision }) => [name, code(decision)]),
  );

export const lifecyclePage = (): string =>
  page(
    "# The lifecycle of a worker",
    GENERATED,
    "One registration is one state machine. The table is total: each state answers each event by a _move_ (the next state and its effects), _ignore_ (why), _deny_ (the error code) or _impossible_ (why; a bug if it happens). The source is `packages/daemon-supervisor/src/lifecycle`.",
    "Where a cell is a function, this page lists what it answered to the sample states and events of its own tests (`samples.testing.ts`), with and without a missing environment value `KEY`. `end` is the end of the registration, `stays` a move inside the state (another phase, timer or intent).",
    "Events of another generation, another stop or another timer are dropped as stale before the table is read.",
    "## Diagram",
    "Moves that stay in their state are left out.",
    lifecycleDiagram(),
    "## Overview",
    OVERVIEW_KEY,
    lifecycleOverview(),
    ...stateNames.flatMap((name) => [`## ${name}`, stateTable(name)]),
    "## What is on disk",
    "Written before a state is visible. `keep` leaves the descriptor as it was, `none` removes it.",
    durableTable(),
    "## At the start of a supervisor",
    "Exactly one row fires for each session of the home. No row waits for a worker.",
    bootRows(),
  );

export const OVERVIEW_KEY =
  "→ moves · is ignored ✗ is denied – is impossible. Several signs: it depends on the state's and the event's data.";
