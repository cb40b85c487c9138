import type { Command } from "commander";
import { positiveInteger, selector } from "../inputs.ts";
import type { Invocation } from "../invocation.ts";
import { runTranscript } from "../run-attach.ts";

interface Options {
  readonly from?: string;
  readonly limit?: string;
}

export function addTranscript(command: Command, invocation: Invocation): void {
  command
    .description("what happened in a session, in order")
    .argument("<session>", "id, name, or part of an id")
    .option("--from <cursor>", "begin after this cursor")
    .option("--limit <n>", "at most this many events");
  invocation.handle<Options>(command, async (context, { from, limit }, [given = ""]) => {
    const session = selector(given);
    await runTranscript(context, {
      session,
      ...(from === undefined ? {} : { from }),
      ...(limit === undefined ? {} : { limit: positiveInteger(limit, "--limit") }),
    });
  });
}
