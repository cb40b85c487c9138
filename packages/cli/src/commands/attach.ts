import type { Command } from "commander";
import { examples } from "../help.ts";
import { cursorAfter } from "../inputs.ts";
import type { Invocation } from "../invocation.ts";

interface Options {
  readonly from?: string;
  /** False with `--no-follow`. */
  readonly follow: boolean;
}

export function addAttach(command: Command, invocation: Invocation): void {
  examples(command, "agent attach build", "agent attach build --from CURSOR --json", "agent attach build --no-follow");
  command
    .description("watch a session live; leaving it stops nothing")
    .argument("<session>", "id, name, or part of an id")
    .option("--from <cursor>", "begin after this cursor (at the start)")
    .option("--no-follow", "end with what is there now")
    .addHelpText(
      "after",
      "\nCtrl-\\ leaves. Ctrl-C asks before it cancels the running turn; without a terminal it leaves.",
    );
  invocation.handle<Options>(command, async (context, { from, follow }, [given = ""]) => {
    const session = context.select(given);
    const after = from === undefined ? {} : { from: cursorAfter(from) };
    const { runAttach } = await import("../run-attach.ts");
    return await runAttach(context, { session, follow, ...after });
  });
}
