import { waitConditions } from "@holdfast/client/protocol";
import type { WaitCondition } from "@holdfast/client/protocol";
import type { Command } from "commander";
import { parseDuration } from "../duration.ts";
import { examples } from "../help.ts";
import type { Invocation } from "../invocation.ts";
import { usage } from "../usage.ts";

interface Options {
  readonly for?: string;
  readonly any?: boolean;
  readonly timeout?: string;
}

export function addWait(command: Command, invocation: Invocation): void {
  command
    .description("wait until sessions are idle, need input, are stopped or failed; at once if they already are")
    .argument("<session...>", "id, name, or part of an id; of several, all at the same time")
    .option("--for <condition>", "idle (default: nothing runs, nothing is queued), needs_input, stopped or failed")
    .option("--any", "until one of them is")
    .option("--timeout <duration>", "stop waiting then, with exit 8");
  examples(
    command,
    "agent wait build",
    "agent wait build test --for needs_input --any --timeout 10m",
    "agent session wait build --for stopped --json",
  ).addHelpText("after", "\nIt goes on over restarts of the daemon, and without one.");
  invocation.handle<Options>(command, async (context, { for: condition = "idle", any = false, timeout }, given) => {
    const sessions = given.map((session) => context.select(session));
    const timeoutMs = timeout === undefined ? null : parseDuration(timeout, "--timeout");
    const request = { sessions, condition: conditionOf(condition), any, timeoutMs };
    const { runWait } = await import("../run-wait.ts");
    await runWait(context, request);
  });
}

function conditionOf(name: string): WaitCondition {
  const condition = waitConditions.find((known) => known === name);
  if (condition) return condition;
  throw usage(`--for: not one of ${waitConditions.join(", ")}: ${JSON.stringify(name)}`, "--for idle");
}
