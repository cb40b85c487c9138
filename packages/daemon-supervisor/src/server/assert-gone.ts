import { ProtocolError } from "@holdfast/client/protocol";
import { probeLifeline } from "@holdfast/shared-process";
import { awaitsProcess } from "../lifecycle/reduce.ts";
import type { State, WorkerProcess } from "../lifecycle/state.ts";
import { ADOPTION_MS } from "../lifecycle/times.ts";
import { verdictOf } from "@holdfast/session-worker/transport";
import type { RepairOrder } from "./repair.ts";
import type { Services } from "./services.ts";
import { goesOn } from "./unwritten.ts";

interface GoneServices {
  readonly context: Pick<Services["context"], "registry" | "observer" | "log">;
  readonly channels: { peer(sessionId: string): { readonly closed: boolean } | null };
}

/**
 * A worker of which nothing can be told is taken for gone, because a person says so; its session goes on as after any worker's end. What
 * is seen to live is never believed to be gone. Should the person be wrong (ADR 0010), the new generation fences the old worker: its
 * journal is claimed by the next segment, which it finds before its next acknowledgement, and its socket has no client any more.
 */
export async function assertGone(services: GoneServices, { sessionId, stamp }: RepairOrder): Promise<string> {
  const { registry } = services.context;
  // A daemon that has just started asks the worker first: one that answers needs no assertion.
  await registry.until(sessionId, (state) => awaited(state) === null || answers(services, sessionId), ADOPTION_MS);
  const process = awaited(registry.newest(sessionId));
  if (process === null && !answers(services, sessionId)) return "nothing waits for a process of it";
  if (process === null || answers(services, sessionId)) throw lives(sessionId, "its worker answers");
  refuseLiving(services, sessionId, process);
  const { generation } = process;
  const decision = registry.dispatch(sessionId, { type: "process_gone", generation, how: "asserted" }, stamp);
  if (decision.kind === "deny") throw new ProtocolError(decision.code, decision.why);
  if (!(await registry.drained({ sessionId }))) throw goesOn(registry, sessionId, "the assertion");
  services.context.log.warn({ sessionId, process: process.identity }, "a person asserted that this worker is gone");
  return `process ${process.identity.pid} is taken for gone; nothing was sent to it`;
}

const answers = ({ channels }: GoneServices, sessionId: string): boolean => channels.peer(sessionId)?.closed === false;

/** The process that the state waits for, for a word or for its end. */
function awaited(state: State | null): WorkerProcess | null {
  const process = state && "process" in state ? state.process : null;
  return process && awaitsProcess(state, process.generation) ? process : null;
}

function refuseLiving({ context: { observer } }: GoneServices, sessionId: string, process: WorkerProcess): void {
  const { pid } = process.identity;
  if (verdictOf(observer, process).kind === "current") throw lives(sessionId, `process ${pid} runs`);
  if (process.lifelinePath !== null && probeLifeline(process.lifelinePath) === "held")
    throw lives(
      sessionId,
      `its lifeline ${process.lifelinePath} is held, so its worker lives somewhere on this machine`,
    );
}

const lives = (sessionId: string, why: string): ProtocolError =>
  new ProtocolError("session_running", `nothing was changed: ${why}`, {
    hint: `agent session stop ${sessionId} --force`,
  });
