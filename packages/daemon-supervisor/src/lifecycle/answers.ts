import type { Effect, EventTyped, EventType } from "./state.ts";

/** The effect that an event answers. All other events are facts about a process, timers, and requests. */
export const answeredEffect = {
  spawned: "spawn",
  spawn_failed: "spawn",
  serving: "start_worker",
  start_failed: "start_worker",
  acknowledged: "ask_stop",
  busy: "ask_stop",
  signalled: "signal",
  settled: "settle",
  settle_failed: "settle",
  finalized: "finalize",
  finalize_failed: "finalize",
} as const satisfies Partial<Record<EventType, Effect["type"]>>;

export type AnswerType = keyof typeof answeredEffect;
export type Answer = EventTyped<AnswerType>;
export type Fact = EventTyped<Exclude<EventType, AnswerType>>;

/**
 * Names one effect: what comes of it returns under it. A revision is given once in the life of a supervisor, so that neither an earlier
 * effect of the same kind nor an earlier registration of the same session is answered by it.
 */
export interface Stamp {
  readonly sessionId: string;
  readonly generation: string | null;
  readonly revision: number;
}

/** The newest revision of each kind of effect that a registration waits for. */
export type Issued = ReadonlyMap<Effect["type"], number>;

export const issue = (issued: Issued, effects: readonly Effect[], revision: number): Issued =>
  effects.length === 0 ? issued : new Map([...issued, ...effects.map(({ type }) => [type, revision] as const)]);

/** An effect answers once. */
export const answered = (issued: Issued, { type }: Answer): Issued =>
  new Map([...issued].filter(([effect]) => effect !== answeredEffect[type]));

export const answersNewest = (issued: Issued, answer: Answer, { revision }: Stamp): boolean =>
  issued.get(answeredEffect[answer.type]) === revision;
