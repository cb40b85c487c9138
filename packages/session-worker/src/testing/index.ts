/** The parts of a worker for a simulated world around them. No stable interface. */
export type { Agent, AgentHost, AgentOrigin, AgentStart, TurnEnd } from "../agents/agent.ts";
export type { ShellAgentOptions } from "../agents/shell/shell-agent.ts";
export { Worker, type WorkerOptions } from "../worker/worker.ts";
export type { WorkerWorld } from "../worker/world.ts";
