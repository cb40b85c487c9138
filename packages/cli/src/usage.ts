import { ProtocolError } from "@holdfast/client/protocol";
import type { Command, CommanderError } from "commander";

export const DASHED_TEXT = "put -- before text that begins with -";

export const usage = (message: string, hint?: string): ProtocolError =>
  new ProtocolError("usage", message, hint === undefined ? {} : { hint });

/** Commander's own complaint in our form, with what to type next for the command that it is about. */
export function usageOf(error: CommanderError, command: Command): ProtocolError {
  if (error.code === "commander.help") return usage("no command given", helpOf(command));
  const [message = ""] = error.message.replace(/^error: /, "").split("\n");
  const word = /'(.*)'/.exec(message)?.[1] ?? "";
  return usage(message, hintOf(error.code, command, word) ?? helpOf(command));
}

export const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

export const helpOf = (command: Command): string => `${pathOf(command)} --help`;

export const takesText = (command: Command): boolean =>
  command.registeredArguments.some((argument) => argument.name() === "text");

function hintOf(code: string, command: Command, word: string): string | null {
  switch (code) {
    case "commander.unknownCommand":
      return commandHint(word, command);
    case "commander.unknownOption":
      return didYouMean(nearestOption(word, command)) ?? (takesText(command) ? DASHED_TEXT : null);
    case "commander.excessArguments":
      return takesText(command) ? "put the text in quotes" : null;
    default:
      return null;
  }
}

/** Of the contract, and not in this version: nobody has mistyped another command. */
export const notYet: Readonly<Record<string, readonly string[]>> = {
  agent: ["events", "permissions", "agents", "top", "acp", "mcp", "demo", "completion"],
  "agent daemon": ["install", "uninstall", "metrics"],
};

/** What to say of a word that is no command of this group; `null`: nothing is known that is like it. */
export const commandHint = (word: string, group: Command): string | null =>
  notYet[pathOf(group)]?.includes(word)
    ? `${pathOf(group)} ${word} is not there yet`
    : didYouMean(nearestCommand(word, group));

const didYouMean = (word: string | null): string | null => (word === null ? null : `Did you mean ${word}?`);

/** A command of this group, or one of a group below it: `show` is `session show`. */
function nearestCommand(word: string, group: Command): string | null {
  const close = nearest(word, namesOf(group));
  if (close !== null) return close;
  for (const below of group.commands) {
    const verb = nearest(word, namesOf(below));
    if (verb !== null) return `${below.name()} ${verb}`;
  }
  return null;
}

const namesOf = (group: Command): string[] =>
  group.commands.flatMap((command) => [command.name(), ...command.aliases()]);

function nearestOption(flag: string, command: Command): string | null {
  const known: string[] = [];
  for (let at: Command | null = command; at; at = at.parent)
    known.push(...at.options.flatMap(({ long }) => (long ? [long.slice(2)] : [])));
  const [, name = ""] = /^--([^=]+)/.exec(flag) ?? [];
  const close = nearest(name, known);
  return close === null ? null : `--${close}`;
}

/** The known word within one typing error of this one, or within two for a long one: more would be a guess. */
export function nearest(word: string, known: readonly string[]): string | null {
  let best: { name: string; distance: number } | null = null;
  for (const name of known) {
    const distance = typingErrors(word, name);
    if (distance <= 2 && distance * 3 <= name.length && (!best || distance < best.distance)) best = { name, distance };
  }
  return best?.name ?? null;
}

/** Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours. */
function typingErrors(a: string, b: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(changed, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, swap));
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
