import type { JsonObject } from "@holdfast/recovery-journal";

/** What is remembered of a request. */
export interface Kept {
  readonly hash: string;
  readonly sessionId: string | null;
  /** `null`: it took effect and was not over when it was last answered, or never was answered. */
  readonly answer: JsonObject | null;
}

export const sessionOf = (answer: object): string | null =>
  "sessionId" in answer && typeof answer.sessionId === "string" ? answer.sessionId : null;

/** What a journal can hold of an answer: without members that are absent. */
export const plain = (answer: object): JsonObject => JSON.parse(JSON.stringify(answer));

export function keptOf(hash: string, { sessionId, answer }: JsonObject): Kept {
  const isAnswer = typeof answer === "object" && answer !== null && !Array.isArray(answer);
  return {
    hash,
    sessionId: typeof sessionId === "string" ? sessionId : null,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object that is no list, from a journal that checks itself
    answer: isAnswer ? (answer as JsonObject) : null,
  };
}
