import type { MethodParams, SubmitResult } from "@holdfast/client/protocol";
import { Interrupted } from "./confirm.ts";
import type { Context } from "./context.ts";
import { aborted } from "./interrupts.ts";

const verbs = { "session/prompt": "prompt", "session/steer": "steer", "session/follow_up": "follow-up" } as const;

export interface Submission {
  readonly method: keyof typeof verbs;
  readonly params: MethodParams<"session/prompt">;
}

/** Sends it; throws the signal's reason at once, also while a daemon is being started for it. */
export async function submit(
  context: Context,
  { method, params }: Submission,
  signal: AbortSignal,
): Promise<SubmitResult> {
  const client = await context.client();
  return await Promise.race([client.call(method, params, { signal }), aborted(signal)]);
}

/** The same where nothing is followed afterwards: Ctrl-C ends the command. */
export async function submitAlone(context: Context, submission: Submission): Promise<SubmitResult> {
  const leave = new AbortController();
  const interrupt = context.io.onSignal("SIGINT", () => leave.abort(notKnown(submission)));
  try {
    return await submit(context, submission, leave.signal);
  } finally {
    interrupt[Symbol.dispose]();
  }
}

/** Ctrl-C before the answer. */
export const notKnown = (submission: Submission): Interrupted =>
  new Interrupted(`whether it was accepted is not known; ${repeatHint(submission)} takes effect once`);

export const repeatHint = ({ method, params }: Submission): string =>
  `agent session ${verbs[method]} ${params.session} TEXT --request-id ${params.requestId}`;
