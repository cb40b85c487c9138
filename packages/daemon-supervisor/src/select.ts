import { ProtocolError } from "@holdfast/client/protocol";

export interface Selectable {
  readonly sessionId: string;
  readonly name: string | null;
  readonly archived: boolean;
}

const MIN_PART = 4;

/**
 * `S` of CLI.md §1: exact id, then exact name (unarchived before archived), then a prefix or suffix of an id of at least four characters.
 * Never a guess: throws `usage`, `ambiguous` or `session_not_found`.
 */
export function select(selector: string, sessions: Iterable<Selectable>): string {
  if (selector === "") throw new ProtocolError("usage", "the session is empty", { hint: "agent session list" });
  const all = [...sessions];
  const exact = all.find((session) => session.sessionId === selector);
  if (exact) return exact.sessionId;
  const named = all.filter((session) => session.name === selector);
  const unarchived = named.filter((session) => !session.archived);
  const part = selector.toLowerCase();
  const byPart = (): Selectable[] =>
    part.length < MIN_PART ? [] : all.filter(({ sessionId }) => sessionId.startsWith(part) || sessionId.endsWith(part));
  const found = unarchived.length > 0 ? unarchived : named.length > 0 ? named : byPart();
  const [only] = found;
  if (!only) {
    throw new ProtocolError("session_not_found", `no session ${JSON.stringify(selector)}`, {
      hint: "agent session list shows what there is (with --archived also what was archived)",
    });
  }
  if (found.length === 1) return only.sessionId;
  throw new ProtocolError("ambiguous", `${JSON.stringify(selector)} fits ${found.length} sessions`, {
    hint: `use one of ${found.map(({ sessionId }) => sessionId).join(", ")}`,
    data: { sessionIds: found.map(({ sessionId }) => sessionId) },
  });
}
