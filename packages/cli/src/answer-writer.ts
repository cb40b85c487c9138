import type { SessionEvent } from "@holdfast/client/protocol";
import type { Context } from "./context.ts";
import { outputBytes, renderEvent } from "./render-event.ts";

/** `text` as it comes, `final` the answer alone at the end, `json` one event a line. */
export const answerForms = ["text", "final", "json"] as const;
export type AnswerForm = (typeof answerForms)[number];

/** Text held back for `final`; the rest of a longer answer is its end. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** Writes a prompt's events in one of three forms, never faster than they are read. */
export class AnswerWriter {
  readonly #context: Context;
  readonly #form: AnswerForm;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #cut = false;

  constructor(context: Context, form: AnswerForm) {
    this.#context = context;
    this.#form = context.options.json ? "json" : form;
  }

  async show(event: SessionEvent): Promise<void> {
    const { io } = this.#context;
    if (this.#form === "json") return await io.stdout.write(`${JSON.stringify(event)}\n`);
    if (event.type === "state") {
      if (event.state !== "ready" && event.state !== "stopped")
        await this.#context.notice(`· session ${event.state}${event.reason ? `: ${event.reason}` : ""}`);
      return;
    }
    if (this.#form === "final" && this.#hold(event)) return;
    for (const { to, data } of renderEvent(event, "prompt")) await io[to].write(data);
  }

  /** After the turn: the answer that was held back. */
  async end(): Promise<void> {
    if (this.#cut) await this.#context.say("the answer is longer than 16 MiB; this is its end");
    for (const part of this.#held) await this.#context.io.stdout.write(part);
  }

  #hold(event: SessionEvent): boolean {
    // What an agent said before it used a tool was not its answer.
    if (event.type === "tool") this.#drop();
    if (event.type === "message") this.#keep(Buffer.from(event.text));
    else if (event.type === "output" && event.stream === "stdout") this.#keep(Buffer.from(outputBytes(event)));
    else return event.type === "tool";
    return true;
  }

  #keep(part: Buffer): void {
    this.#held.push(part);
    this.#heldBytes += part.length;
    while (this.#heldBytes > MAX_HELD_BYTES && this.#held.length > 1) {
      this.#heldBytes -= this.#held.shift()?.length ?? 0;
      this.#cut = true;
    }
  }

  #drop(): void {
    this.#held = [];
    this.#heldBytes = 0;
  }
}
