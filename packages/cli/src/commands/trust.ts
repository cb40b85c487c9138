import type { Command } from "commander";
import { addHelp, examples } from "../help.ts";
import type { Invocation } from "../invocation.ts";

const DIRECTORY = "any spelling of a directory (this one's project)";

export function addTrust(command: Command, invocation: Invocation): void {
  examples(command, "agent trust check", "agent trust add ~/project", "agent trust list", "agent help trust add");
  command.description("which directories are trusted: what their settings name may be run there");
  addAdd(command.command("add"), invocation);
  addList(command.command("list").alias("ls"), invocation);
  addRemove(command.command("remove"), invocation);
  addCheck(command.command("check"), invocation);
  addHelp(command);
}

function addAdd(command: Command, invocation: Invocation): void {
  command
    .description("trust a project as it is now; asks, unless it is named by its exact path")
    .argument("[dir]", DIRECTORY)
    .option("--yes", "do not ask");
  examples(
    command,
    "agent trust add /home/me/project    the exact path of a project: asks nothing",
    "agent trust add                     the project of this directory: shows it, and asks",
    "agent trust add ./link --yes --json",
  );
  invocation.handle<{ yes?: boolean }>(command, async (context, { yes = false }, [given]) => {
    const { trustAdd } = await import("../run-trust.ts");
    await trustAdd(context, given, yes);
  });
}

function addList(command: Command, invocation: Invocation): void {
  command.description("the trusted directories, each as it is found now; no daemon is asked");
  examples(command, "agent trust list", "agent trust list --json");
  invocation.handle(command, async (context) => {
    const { trustList } = await import("../run-trust.ts");
    await trustList(context);
  });
}

function addRemove(command: Command, invocation: Invocation): void {
  command
    .description("trust a project no more; one that is gone or was replaced by the path that the list has for it")
    .argument("[dir]", DIRECTORY);
  examples(command, "agent trust remove /home/me/project", "agent trust remove --json");
  invocation.handle(command, async (context, _options, [given]) => {
    const { trustRemove } = await import("../run-trust.ts");
    await trustRemove(context, given);
  });
}

function addCheck(command: Command, invocation: Invocation): void {
  command
    .description("whether sessions in a directory are in a trusted project, and why not; exit 0 in any case")
    .argument("[dir]", "a directory (this one)");
  examples(command, "agent trust check", "agent trust check /home/me/project --json");
  invocation.handle(command, async (context, _options, [given]) => {
    const { trustCheck } = await import("../run-trust.ts");
    await trustCheck(context, given);
  });
}
