import { ProtocolError } from "@holdfast/client/protocol";
import { putLast } from "../put-last.ts";
import { reusedRequest } from "./reused-request.ts";

interface Submitted {
  readonly selector: string;
  readonly sessionId: string;
  underway: number;
  /** Or it may have been. */
  isTaken: boolean;
}

/** Their sessions know them for longer. */
const MAX_KEPT = 10_000;

/**
 * Which session the prompts of late were for. A session knows its own requests by their ids; which one is asked is told by a name, and
 * that may be another session's by the time of a repeat (I143).
 */
export class Submissions {
  readonly #kept = new Map<string, Submitted>();

  /** Whether a prompt of late has the id. */
  has(requestId: string): boolean {
    return this.#kept.has(requestId);
  }

  /** Runs `work` with the session that the request was for before, or is for now. Rejects `request_id_reused` where those differ. */
  async run<R>(
    requestId: string,
    { selector, resolve }: { readonly selector: string; readonly resolve: () => string },
    work: (sessionId: string) => Promise<R>,
  ): Promise<R> {
    const known = this.#kept.get(requestId);
    const sessionId = known?.selector === selector ? known.sessionId : resolve();
    if (known && known.sessionId !== sessionId) throw reusedRequest(requestId);
    const submitted = known ?? { selector, sessionId, underway: 0, isTaken: false };
    putLast(this.#kept, [requestId, submitted], MAX_KEPT);
    submitted.underway += 1;
    try {
      const result = await work(sessionId);
      submitted.isTaken = true;
      return result;
    } catch (error) {
      // What was refused leaves nothing; of what timed out nobody knows.
      submitted.isTaken ||= !(error instanceof ProtocolError) || error.code === "timeout";
      throw error;
    } finally {
      submitted.underway -= 1;
      const isOver = submitted.underway === 0 && !submitted.isTaken;
      if (isOver && this.#kept.get(requestId) === submitted) this.#kept.delete(requestId);
    }
  }
}
