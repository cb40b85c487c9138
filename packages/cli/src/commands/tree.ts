import type { Command } from "commander";
import { examples } from "../help.ts";
import type { Invocation } from "../invocation.ts";
import { read } from "../reads.ts";
import { sessionTree } from "../rows.ts";
import { styleOf } from "../table.ts";

export function addTree(command: Command, invocation: Invocation): void {
  examples(command, "agent session tree", "agent session tree build --json");
  command
    .description("sessions with their children; without a session all that are not archived")
    .argument("[session]", "id, name, or part of an id");
  invocation.handle(command, async (context, _options, [given]) => {
    const session = given === undefined ? undefined : context.select(given);
    const answer = await read(
      context,
      (client) => client.call("session/tree", session === undefined ? {} : { session }),
      (state) => state.treeOffline(context.options.home, session),
    );
    const { stdout, env } = context.io;
    if (answer.sessions.length === 0 && !context.options.json) return await context.say("no sessions");
    await context.answer(answer, () => sessionTree(answer.sessions, styleOf(stdout, env)));
  });
}
