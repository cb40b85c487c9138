import type { Command } from "commander";
import { helpOf, commandHint, usage } from "./usage.ts";

/** Lines under the heading `Examples:`, before what else the help says at its end. */
export const examples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`);

/** `help VERB…` of a group of commands, as deep as they go; commander's own knows one level. */
export function addHelp(group: Command): void {
  group.helpCommand(false);
  group
    .command("help")
    .description("the help of a command")
    .argument("[command...]")
    .action((words: readonly string[]) => {
      let command = group;
      for (const word of words) {
        const next = command.commands.find((sub) => sub.name() === word || sub.aliases().includes(word));
        if (!next) throw usage(`unknown command '${word}'`, commandHint(word, command) ?? helpOf(command));
        command = next;
      }
      command.help();
    });
}
