import type { Command } from "commander";
import { DASHED_TEXT, usage } from "./usage.ts";

/** Flags that end a command line wherever they stand: commander takes them also where a text is meant. */
const ending = new Set(["--version", "--help", "-h"]);

/** Refuses a `--version` or `--help` that stands where a text, or the value of an option, is expected. */
export function refuseOptionLikeText(argv: readonly string[], program: Command): void {
  let command = program;
  let given = 0;
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? "";
    if (word === "--") return;
    if (!word.startsWith("-") || word === "-") {
      const verb = given === 0 ? command.commands.find((sub) => [sub.name(), ...sub.aliases()].includes(word)) : null;
      if (verb) command = verb;
      else given += 1;
    } else if (ending.has(word)) {
      if (given > 0 && command.registeredArguments[given]?.name() === "text")
        throw usage(`${word} stands where the text is expected`, DASHED_TEXT);
    } else if (takesValue(word, command)) {
      at += 1;
      const value = argv[at] ?? "";
      if (ending.has(value)) throw usage(`${word}: ${value} stands where its value is expected`, `${word}=${value}`);
    }
  }
}

function takesValue(flag: string, command: Command): boolean {
  for (let at: Command | null = command; at; at = at.parent) {
    const option = at.options.find(({ short, long }) => flag === short || flag === long);
    if (option) return option.required;
  }
  return false;
}
