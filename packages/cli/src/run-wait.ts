import { ProtocolError, SILENT_DAEMON_NOTICE_MS } from "@holdfast/client/protocol";
import type { WaitAnswer, WaitCondition } from "@holdfast/client/protocol";
import { Interrupted } from "./confirm.ts";
import type { Context } from "./context.ts";
import { MAX_DURATION_MS } from "./duration.ts";
import { aborted } from "./interrupts.ts";
import { WaitLoop } from "./wait-loop.ts";
import type { Seen, WaitRequest } from "./wait-loop.ts";

/** The daemon does not say that the time is over, within as much more time as silence is allowed. */
class Silent extends Error {}

/** Waits until all sessions, or any of them, are as asked, and prints what was found; `timeout` when the time is over first. */
export async function runWait(context: Context, request: WaitRequest): Promise<void> {
  const { timeoutMs } = request;
  const leave = new AbortController();
  const interrupt = context.io.onSignal("SIGINT", () => leave.abort(new Interrupted("")));
  const silentMs = timeoutMs === null ? null : Math.min(timeoutMs + SILENT_DAEMON_NOTICE_MS, MAX_DURATION_MS);
  const silent = silentMs === null ? undefined : setTimeout(() => leave.abort(new Silent()), silentMs);
  const loop = new WaitLoop(context, request, leave.signal);
  try {
    // A start of a daemon, which may be part of it, does not listen to the signal.
    await Promise.race([loop.run(), aborted(leave.signal)]);
  } catch (error) {
    if (!(error instanceof Silent)) throw error;
  } finally {
    clearTimeout(silent);
    interrupt[Symbol.dispose]();
  }
  await conclude(context, request, loop);
}

/** Of several sessions each has its line; with `any` the one that was waited for. */
async function conclude(context: Context, request: WaitRequest, loop: WaitLoop): Promise<void> {
  const { condition, any, timeoutMs } = request;
  const seen = loop.seen.length > 0 ? loop.seen : await onDisk(context, request);
  const done = loop.seen.length > 0 && loop.done;
  const matching = seen.filter(({ matched }) => matched);
  for (const { answer, label } of done && any ? matching.slice(0, 1) : seen) {
    const found = answer();
    await context.answer(found, () => `${label}: ${answerText(found, condition)}`);
  }
  if (done) return;
  const missing = seen.filter(({ matched }) => !matched).map(({ label }) => label);
  const message = `not ${conditionText[condition]} after ${(timeoutMs ?? 0) / 1_000} s: ${missing.join(", ")}`;
  throw new ProtocolError("timeout", message, { hint: `agent session show ${missing[0]}` });
}

const conditionText: Readonly<Record<WaitCondition, string>> = {
  idle: "idle",
  needs_input: "waiting for input",
  stopped: "stopped",
  failed: "failed",
};

function answerText({ matched, waitingFor, lastTurn }: WaitAnswer, condition: WaitCondition): string {
  const parts = [`${matched ? "" : "not "}${conditionText[condition]}`];
  if (waitingFor) parts.push(`${waitingFor.kind}: ${waitingFor.title}`);
  if (lastTurn) {
    const status = lastTurn.exitCode === undefined ? "" : `, exit ${lastTurn.exitCode}`;
    parts.push(`last turn: ${lastTurn.stopReason}${status}`);
  }
  return parts.join("; ");
}

/** Where a silent daemon has said nothing at all: what it would say now is not known. */
async function onDisk({ options }: Context, { sessions, condition }: WaitRequest): Promise<Seen[]> {
  const { waitOffline } = await import("@holdfast/daemon-supervisor/offline");
  const found = waitOffline(options.home, sessions, condition);
  return found.map(({ sessionId, answer }, index) => ({
    sessionId,
    label: sessions[index] ?? sessionId,
    matched: false,
    answer: () => ({ ...answer(), matched: false }),
  }));
}
