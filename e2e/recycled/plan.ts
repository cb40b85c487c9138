import * as verbs from "./verbs.ts";
import type { Row } from "./verbs.ts";

/**
 * What has the number now: a leader of a session and a group with one member; Holdfast's own program, or another's shell with a marker
 * that begins like the agent's; only the group, its leader having left; or a leader that started in the same tick.
 */
export const disguises = ["stranger", "look-alike", "group alone", "same tick"] as const;
export type Disguise = (typeof disguises)[number];

/** Where numbers were recycled. */
export type Situation =
  /** No daemon and no worker is left: their numbers and the agents' are others'. */
  | "nobody lives"
  /** The daemon was frozen when its adopted workers and their agents ended. */
  | "the daemon lives"
  /** The agents ended under living workers. */
  | "the workers live"
  /** A stop left a process behind and recorded it; its number is another's now. */
  | "something was left"
  /** In the middle of a stop, when a signal is due. */
  | "a stop is under way";

export interface Case {
  readonly situation: Situation;
  readonly row: Row;
  readonly disguise: Disguise;
}

/** What came of one. */
export interface Outcome {
  readonly title: string;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The numbers that were recycled. */
  readonly numbers: readonly number[];
  /** What was done to those who have them. */
  readonly touched: readonly string[];
}

export const commandOf = ({ verb, args }: Row): string => [verb, ...args].join(" ");
export const titleOf = ({ situation, row, disguise }: Case): string =>
  `${situation}: agent ${commandOf(row)} (${disguise})`;

/** Cases that run side by side in one home, each with a session of its own unless it only reads. */
export interface Round {
  /** Of whoever has the number of the supervisor. */
  readonly supervisor: Disguise;
  readonly cases: readonly Case[];
}

const casesOf = (situation: Situation, rows: readonly Row[], ...worn: Disguise[]): Case[] =>
  (worn.length === 0 ? (["stranger"] as const) : worn).flatMap((disguise) =>
    rows.map((row) => ({ situation, row, disguise })),
  );
const together = (cases: readonly Case[]): Round => ({ supervisor: "look-alike", cases });
/** So few that the daemon of a small machine can recover their sessions while all of them wait for it. */
const ROUND_SIZE = 3;
const inRounds = (cases: readonly Case[], size = ROUND_SIZE): Round[] =>
  Array.from({ length: Math.ceil(cases.length / size) }, (_, at) => together(cases.slice(at * size, (at + 1) * size)));
const alone = (cases: readonly Case[]): Round[] => cases.map((only) => ({ supervisor: only.disguise, cases: [only] }));

const dead = "nobody lives";
const workers = "the workers live";
const daemon = "the daemon lives";
/** A living daemon has its workers' identities in its memory, so none of them can be given the tick of a newcomer. */
const others = ["look-alike", "group alone"] as const;

/** All that is run, by the homes that it is run in. */
export const plan = {
  dead: inRounds([...casesOf(dead, verbs.mutations), ...casesOf(dead, verbs.firm, ...others, "same tick")]),
  deadHome: [
    together(casesOf(dead, verbs.offlineReads)),
    ...inRounds(casesOf(dead, [...verbs.reads, ...verbs.gentleMutations]), 2 * ROUND_SIZE),
    ...alone(casesOf(dead, verbs.homeVerbs)),
    ...alone(casesOf(dead, verbs.firmHomeVerbs, ...others, "same tick")),
  ],
  live: [
    together([...casesOf(workers, verbs.agentVerbs), ...casesOf(workers, verbs.forcedStops, ...others)]),
    together([
      ...casesOf(daemon, [...verbs.liveReads, ...verbs.liveMutations]),
      ...casesOf(daemon, verbs.forcedStops, ...others),
    ]),
    ...alone(casesOf(daemon, verbs.liveHomeVerbs)),
  ],
  leftover: [
    together(casesOf("something was left", verbs.leftoverVerbs)),
    ...alone(casesOf("something was left", verbs.leftoverHomeVerbs)),
  ],
  midway: [together(casesOf("a stop is under way", verbs.underWay))],
} satisfies Readonly<Record<string, readonly Round[]>>;
export type PlanPart = keyof typeof plan;

/** Every round, with the part that it belongs to. */
export const allRounds: readonly (Round & { readonly part: PlanPart })[] = (
  ["dead", "deadHome", "live", "leftover", "midway"] as const
).flatMap((part) => plan[part].map((round: Round) => ({ ...round, part })));
