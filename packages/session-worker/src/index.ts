export { runWorker } from "./main.ts";
export type { Agent, AgentHost, AgentOrigin, AgentStart, TurnEnd } from "./agents/agent.ts";
