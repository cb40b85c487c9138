import type { Command } from "commander";
import { examples } from "../help.ts";
import { cursorAfter, positiveInteger } from "../inputs.ts";
import type { Invocation } from "../invocation.ts";

interface Options {
  readonly from?: string;
  readonly limit?: string;
}

export function addTranscript(command: Command, invocation: Invocation): void {
  examples(
    command,
    "agent session transcript build",
    "agent session transcript build --from CURSOR --limit 100 --json",
  );
  command
    .description("what happened in a session, in order, on standard output")
    .argument("<session>", "id, name, or part of an id")
    .option("--from <cursor>", "begin after this cursor")
    .option("--limit <n>", "at most this many events");
  invocation.handle<Options>(command, async (context, { from, limit }, [given = ""]) => {
    const session = context.select(given);
    const after = from === undefined ? {} : { from: cursorAfter(from) };
    const { runTranscript } = await import("../run-attach.ts");
    await runTranscript(context, {
      session,
      ...after,
      ...(limit === undefined ? {} : { limit: positiveInteger(limit, "--limit") }),
    });
  });
}
