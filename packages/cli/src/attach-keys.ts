import type { Context } from "./context.ts";
import { classifyInterrupt } from "./interrupts.ts";

const CTRL_C = 0x03;
const CTRL_BACKSLASH = 0x1c;
const SIGNAL_EXIT = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Thrown into the stream of events when a person leaves; carries the exit status. */
export class Left extends Error {
  readonly exitCode: number;
  constructor(exitCode: number) {
    super("left");
    this.exitCode = exitCode;
  }
}

/**
 * Ctrl-\ leaves. Ctrl-C asks before it cancels a turn, and leaves where there is nobody to ask. On a terminal both are read as keys,
 * since a package runner or a shell would act on the signal as well.
 */
export class AttachKeys implements Disposable {
  readonly #context: Context;
  readonly #session: string;
  readonly #leave: AbortController;
  readonly #listeners: Disposable[];
  readonly #terminal: boolean;
  #pressed: number | null = null;
  #question: "none" | "preparing" | "asked" = "none";

  constructor(context: Context, session: string, leave: AbortController) {
    const { io } = context;
    this.#context = context;
    this.#session = session;
    this.#leave = leave;
    this.#terminal = io.stdin.isTTY && io.stdout.isTTY;
    this.#listeners = [
      io.onSignal("SIGQUIT", () => leave.abort(new Left(0))),
      io.onSignal("SIGINT", () => this.#interrupt()),
    ];
    if (!this.#terminal) return;
    this.#listeners.push(
      io.onKeys((keys) => {
        for (const key of keys) this.#press(key);
      }),
      // They would end us with the terminal still in another mode.
      io.onSignal("SIGTERM", () => leave.abort(new Left(SIGNAL_EXIT.SIGTERM))),
      io.onSignal("SIGHUP", () => leave.abort(new Left(SIGNAL_EXIT.SIGHUP))),
    );
  }

  [Symbol.dispose](): void {
    for (const listener of this.#listeners) listener[Symbol.dispose]();
  }

  #press(key: number): void {
    if (key === CTRL_BACKSLASH) this.#leave.abort(new Left(0));
    else if (key === CTRL_C) this.#interrupt();
    else if (this.#question === "asked") void this.#answer(key).catch((error: unknown) => this.#leave.abort(error));
  }

  #interrupt(): void {
    const now = this.#context.io.now();
    if (classifyInterrupt(this.#pressed, now) === "repeat") return;
    this.#pressed = now;
    if (this.#terminal && this.#question === "none") void this.#ask();
    else this.#leave.abort(new Left(SIGNAL_EXIT.SIGINT));
  }

  async #ask(): Promise<void> {
    const context = this.#context;
    this.#question = "preparing";
    let next: "none" | "asked" = "none";
    try {
      const client = await context.client();
      const { activity } = await client.call("session/show", { session: this.#session });
      if (activity === "idle") return await context.say("no turn runs; Ctrl-\\ leaves");
      await context.io.stderr.write("cancel the running turn? [y/N] (Ctrl-\\ leaves) ");
      next = "asked";
    } catch (error) {
      // The events go on, or end with an error of their own; only the question has no answer now.
      await context.say(`${error instanceof Error ? error.message : "no answer"}; Ctrl-\\ leaves`);
    } finally {
      this.#question = next;
    }
  }

  async #answer(key: number): Promise<void> {
    const context = this.#context;
    this.#question = "none";
    if (!/[yY]/.test(String.fromCharCode(key))) return await context.say("no\nthe turn goes on; Ctrl-\\ leaves");
    await context.say("yes");
    const { systemIds } = await import("@holdfast/shared-process");
    const client = await context.client();
    await client.call("session/cancel", { session: this.#session, requestId: systemIds.newId() });
  }
}
