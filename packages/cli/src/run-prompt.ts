import { ProtocolError } from "@holdfast/client/protocol";
import type { SubmitResult } from "@holdfast/client/protocol";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "./context.ts";
import { OWN_FAILURE_EXIT, exitOf } from "./failure.ts";
import { followPrompt, unfinished } from "./follow-prompt.ts";
import type { PromptOutcome, PromptState } from "./follow-prompt.ts";
import { SECOND_MS, classifyInterrupt } from "./interrupts.ts";
import { OutputClosed } from "./io.ts";
import { isCode } from "./reads.ts";
import { notKnown, repeatHint, submit } from "./submit.ts";
import type { Submission } from "./submit.ts";
import { AnswerWriter } from "./answer-writer.ts";
import type { AnswerForm } from "./answer-writer.ts";

export interface PromptRequest {
  readonly session: string;
  readonly text: string;
  readonly requestId: string;
  readonly form: AnswerForm;
  /** A `shell` command's own status becomes ours. */
  readonly passStatus: boolean;
  /** How the status could have been ours, where the command has an option for it. */
  readonly statusHint?: string;
  readonly timeoutMs: number | null;
}

/** Why we leave while the turn goes on. */
class Leaving extends Error {
  readonly why: "interrupt" | "timeout";
  constructor(why: "interrupt" | "timeout") {
    super(why);
    this.why = why;
  }
}

/** Sends a prompt, streams its answer and gives the exit status that it deserves. */
export async function runPrompt(context: Context, request: PromptRequest): Promise<number> {
  const leave = new AbortController();
  const interrupts = new Interrupts(context, leave);
  const timer =
    request.timeoutMs === null ? undefined : setTimeout(() => leave.abort(new Leaving("timeout")), request.timeoutMs);
  let submitted: SubmitResult | null = null;
  try {
    submitted = await submit(context, submissionOf(request), leave.signal);
    return await stream(context, { request, submitted, leave, interrupts });
  } catch (error) {
    if (error instanceof Leaving && error.why === "interrupt") throw notKnown(submissionOf(request));
    if (error instanceof Leaving) throw timedOut(request, submitted !== null);
    if (submitted && error instanceof ProtocolError && error.retryable) throw lostSight(request, error);
    // The reader of our output is gone; the turn is not over, and nothing is wrong with it.
    if (!(error instanceof OutputClosed)) throw error;
    await context.say(`the output was closed; the turn goes on (agent attach ${request.session})`);
    return request.passStatus ? OWN_FAILURE_EXIT : exitOf("interrupted");
  } finally {
    clearTimeout(timer);
    interrupts[Symbol.dispose]();
  }
}

const submissionOf = ({ session, text, requestId }: PromptRequest): Submission => ({
  method: "session/prompt",
  params: { session, text, requestId },
});

interface Streaming {
  readonly request: PromptRequest;
  readonly submitted: SubmitResult;
  readonly leave: AbortController;
  readonly interrupts: Interrupts;
}

async function stream(context: Context, { request, submitted, leave, interrupts }: Streaming): Promise<number> {
  const writer = new AnswerWriter(context, request.form);
  try {
    const outcome = await follow(context, { request, submitted, leave, interrupts }, writer);
    await writer.end();
    return settle(outcome, request);
  } catch (error) {
    if (!(error instanceof Leaving) || error.why !== "interrupt") throw error;
    await context.say(`detached: the turn goes on (agent attach ${request.session}); Ctrl-C again cancels it`);
    if (await interrupts.second()) await cancel(context, request, submitted.actionId);
    return 130;
  }
}

async function follow(
  context: Context,
  { request, submitted, leave }: Streaming,
  writer: AnswerWriter,
): Promise<PromptOutcome> {
  const client = await context.client();
  let state: PromptState = { phase: "waiting", actionId: submitted.actionId };
  const { session } = request;
  const events = client.attach({
    session,
    from: submitted.cursor,
    follow: true,
    signal: leave.signal,
    expectDaemon: true,
  });
  for await (const event of events) {
    const step = followPrompt(state, event);
    state = step.state;
    if (step.shown) await writer.show(event);
    if (step.outcome) return step.outcome;
  }
  return unfinished;
}

function settle(outcome: PromptOutcome, { passStatus, statusHint, session }: PromptRequest): number {
  if (outcome.kind === "done") return 0;
  if (outcome.kind === "failed") {
    const hint = `agent session transcript ${session} shows how far it came`;
    throw new ProtocolError(outcome.code, outcome.message, outcome.code === "interrupted" ? { hint } : {});
  }
  if (passStatus) return outcome.exitCode;
  const message = `the command ended with status ${outcome.exitCode}`;
  throw new ProtocolError("command_failed", message, statusHint === undefined ? {} : { hint: statusHint });
}

/** It was accepted, so it must not be sent again, whatever became of the way to its answer. */
function lostSight({ session }: PromptRequest, error: ProtocolError): ProtocolError {
  const later = `agent attach ${session}`;
  const message = `the prompt was accepted, but its answer cannot be followed: ${error.message}`;
  const hint = error.code === "daemon_not_running" ? `agent daemon start, then ${later}` : later;
  return new ProtocolError("timeout", message, { hint });
}

function timedOut(request: PromptRequest, accepted: boolean): ProtocolError {
  const after = `after ${(request.timeoutMs ?? 0) / 1_000} s`;
  return accepted
    ? new ProtocolError("timeout", `not finished ${after}; the turn goes on`, {
        hint: `agent attach ${request.session}`,
      })
    : new ProtocolError("timeout", `no answer ${after}; whether the prompt was accepted is not known`, {
        hint: `${repeatHint(submissionOf(request))} takes effect once`,
      });
}

async function cancel(context: Context, { session, requestId }: PromptRequest, actionId: string): Promise<void> {
  const client = await context.client();
  try {
    await client.call("session/cancel", { session, actionId, requestId: `${requestId}.cancel` });
    await context.say("cancelled the turn");
  } catch (error) {
    if (!isCode(error, "session_stopped")) throw error;
    // Stopped meanwhile: its turn has ended with it.
  }
}

/** Ctrl-C once leaves, twice cancels; what arrives within half a second is the same key press. */
class Interrupts implements Disposable {
  readonly #listeners: Disposable[];
  #first: number | null = null;
  readonly #twice = new AbortController();

  constructor({ io }: Context, leave: AbortController) {
    const press = (): void => {
      const now = io.now();
      const meaning = classifyInterrupt(this.#first, now);
      if (meaning === "second") this.#twice.abort();
      if (meaning !== "first") return;
      // A package runner makes SIGTERM of the second Ctrl-C; before the first it means what it always does.
      if (this.#first === null) this.#listeners.push(io.onSignal("SIGTERM", press));
      this.#first = now;
      leave.abort(new Leaving("interrupt"));
    };
    this.#listeners = [io.onSignal("SIGINT", press)];
  }

  /** Waits for the time in which a second one counts. */
  async second(): Promise<boolean> {
    const { signal } = this.#twice;
    if (!signal.aborted)
      await sleep(SECOND_MS, undefined, { signal }).catch(() => {
        // Aborted: that is the second one.
      });
    return signal.aborted;
  }

  [Symbol.dispose](): void {
    for (const listener of this.#listeners) listener[Symbol.dispose]();
  }
}
