import type { EventOf, SessionEvent } from "@holdfast/client/protocol";
import type { Context } from "./context.ts";
import { note, renderEvent } from "./render-event.ts";
import type { Write } from "./render-event.ts";

const NEWLINE = 0x0a;

/** `live`: notices and standard error go to ours. `document`: all of it, in order, to standard output. */
export type ViewerForm = "live" | "document";

/** Writes a session's events one after the other; prompts and notices begin on a line of their own. */
export class Viewer {
  readonly #context: Context;
  readonly #form: ViewerForm;
  /** Texts that were accepted and have not begun, by their action: an answer stands under its prompt, not under a later one. */
  readonly #waiting = new Map<string, string>();
  #turn: string | null = null;
  #midLine = false;

  constructor(context: Context, form: ViewerForm) {
    this.#context = context;
    this.#form = form;
  }

  async show(event: SessionEvent): Promise<void> {
    if (this.#context.options.json) return await this.#context.print(JSON.stringify(event));
    const flows = event.type === "output" || event.type === "message";
    for (const { to, data } of this.#render(event)) {
      if (!flows) await this.endLine();
      await this.#context.io[this.#form === "document" ? "stdout" : to].write(data);
      if (data.length > 0) this.#midLine = flows && Buffer.from(data).at(-1) !== NEWLINE;
    }
  }

  /** So that what others write next does not stand behind the session's last output. */
  async endLine(): Promise<void> {
    if (this.#midLine) await this.#context.io.stdout.write("\n");
    this.#midLine = false;
  }

  #render(event: SessionEvent): readonly Write[] {
    const { type } = event;
    if (type === "turn_ended" || type === "interrupted") this.#turn = null;
    if (type === "prompt_accepted") return this.#accepted(event);
    if (type === "turn_started") return this.#began(event);
    if (type === "steer") return note(`steer ${event.outcome}: ${this.#waiting.get(event.actionId) ?? "a text"}`);
    if (type === "action_cancelled")
      return note(`will not run: ${this.#waiting.get(event.actionId) ?? "a prompt"} (${event.reason})`);
    return renderEvent(event, "viewer");
  }

  #accepted({ actionId, kind, text }: EventOf<"prompt_accepted">): readonly Write[] {
    this.#waiting.set(actionId, text);
    // One that nothing holds up begins at once; what became of a steer is said by the next event.
    return this.#turn === null || kind === "steer" ? [] : note(`queued: ${text}`);
  }

  #began({ turnId, actionId }: EventOf<"turn_started">): readonly Write[] {
    this.#turn = turnId;
    const text = this.#waiting.get(actionId);
    this.#waiting.delete(actionId);
    return text === undefined ? [] : [{ to: "stdout", data: `> ${text.replaceAll("\n", "\n> ")}\n` }];
  }
}
