import { CodedError } from "@holdfast/shared-process";
import type { EventBody } from "@holdfast/client/protocol";

interface Transcript {
  readonly append: (event: EventBody) => void;
  readonly sync: () => Promise<void>;
}

/** Acceptances that stand in the transcript and were refused by the journal: the transcript has to say so, as soon as it takes it. */
export class Unsaid {
  readonly #transcript: Transcript;
  readonly #actionIds = new Set<string>();

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
  }

  refused(actionId: string): void {
    this.#actionIds.add(actionId);
    this.say();
  }

  say(): void {
    for (const actionId of this.#actionIds) {
      try {
        this.#transcript.append({ type: "action_cancelled", actionId, reason: "not admitted" });
        this.#actionIds.delete(actionId);
      } catch {
        // The disk is full: said with the next admission, or by the next writer when it opens.
        return;
      }
    }
  }

  /** Whether the next writer may find a refused action accepted: its record may be there, with nothing durable that cancels it. */
  async mayBeFound(actionId: string, error: unknown): Promise<boolean> {
    if (!(error instanceof CodedError)) return false;
    if (error.code !== "journal_poisoned") return error.code === "journal_fenced";
    if (this.#actionIds.has(actionId)) return true;
    return await this.#transcript.sync().then(
      () => false,
      () => true,
    );
  }
}
