import type { Command } from "commander";
import { examples } from "../help.ts";
import { pageCursor, positiveInteger } from "../inputs.ts";
import type { Invocation } from "../invocation.ts";
import { read } from "../reads.ts";
import { sessionTable } from "../rows.ts";
import { styleOf } from "../table.ts";

interface Options {
  readonly archived?: boolean;
  readonly limit?: string;
  readonly cursor?: string;
}

export function addList(command: Command, invocation: Invocation): void {
  examples(command, "agent ls", "agent ls --archived --limit 20", "agent session list --json");
  command
    .description("live sessions, stopped ones included, newest first")
    .option("--archived", "archived ones too")
    .option("--limit <n>", "how many (200)")
    .option("--cursor <cursor>", "the page after that one: its nextCursor");
  invocation.handle<Options>(command, async (context, { archived, limit, cursor }) => {
    const page = {
      ...(archived ? { archived } : {}),
      ...(limit === undefined ? {} : { limit: positiveInteger(limit, "--limit") }),
      ...(cursor === undefined ? {} : { cursor: pageCursor(cursor) }),
    };
    const answer = await read(
      context,
      (client) => client.call("session/list", page),
      (state) => state.listOffline(context.options.home, page),
    );
    const { stdout, env } = context.io;
    if (answer.sessions.length === 0 && !context.options.json) return await context.say("no sessions");
    await context.answer(answer, () => sessionTable(answer.sessions, styleOf(stdout, env)));
    if (answer.nextCursor === undefined) return;
    const same = `${archived ? " --archived" : ""}${limit === undefined ? "" : ` --limit ${limit}`}`;
    await context.notice(`more: agent session list${same} --cursor ${answer.nextCursor}`);
  });
}
