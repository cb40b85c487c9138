import type { Command } from "commander";
import { examples } from "../help.ts";
import type { Invocation } from "../invocation.ts";
import { usage } from "../usage.ts";

interface Options {
  readonly follow?: boolean;
  readonly source?: string;
}

const sources = ["agent", "worker"] as const;
type Source = (typeof sources)[number];

export function addLogs(command: Command, invocation: Invocation): void {
  examples(command, "agent logs build", "agent logs build -f", "agent session logs build --source worker");
  command
    .description("what the agent said: its text and output alone, to the streams that it wrote to")
    .argument("<session>", "id, name, or part of an id")
    .option("-f, --follow", "go on with what comes")
    .option("--source <source>", "agent (default), or worker: the end of what its worker wrote to standard error");
  invocation.handle<Options>(command, async (context, { follow = false, source = "agent" }, [given = ""]) => {
    const session = context.select(given);
    const from = sourceOf(source);
    const { agentLogs, workerLogs } = await import("../run-logs.ts");
    await (from === "agent" ? agentLogs : workerLogs)(context, session, follow);
  });
}

function sourceOf(name: string): Source {
  const source = sources.find((known) => known === name);
  if (source) return source;
  throw usage(`--source: not one of ${sources.join(", ")}: ${JSON.stringify(name)}`, "--source worker");
}
