import type { Command } from "commander";
import { examples } from "../help.ts";
import type { Invocation } from "../invocation.ts";
import { read } from "../reads.ts";
import { detailsText } from "../rows.ts";

export function addShow(command: Command, invocation: Invocation): void {
  examples(command, "agent session show build", "agent session show build --json");
  command.description("one session in full").argument("<session>", "id, name, or part of an id");
  invocation.handle(command, async (context, _options, [given = ""]) => {
    const session = context.select(given);
    const details = await read(
      context,
      (client) => client.call("session/show", { session }),
      (state) => state.showOffline(context.options.home, session),
    );
    await context.answer(details, () => detailsText(details));
  });
}
