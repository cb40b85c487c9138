import type { Command } from "commander";
import { selector } from "../inputs.ts";
import type { Invocation } from "../invocation.ts";
import { runAttach } from "../run-attach.ts";

interface Options {
  readonly from?: string;
  /** False with `--no-follow`. */
  readonly follow: boolean;
}

export function addAttach(command: Command, invocation: Invocation): void {
  command
    .description("watch a session live; leaving it stops nothing")
    .argument("<session>", "id, name, or part of an id")
    .option("--from <cursor>", "begin after this cursor (at the start)")
    .option("--no-follow", "end with what is there now")
    .addHelpText("after", "\nCtrl-\\ leaves. Ctrl-C asks before it cancels the running turn.");
  invocation.handle<Options>(command, async (context, { from, follow }, [given = ""]) => {
    const session = selector(given);
    return await runAttach(context, { session, follow, ...(from === undefined ? {} : { from }) });
  });
}
