import { expect, it } from "vitest";
import { Invocation } from "../../packages/cli/src/invocation.ts";
import { systemIo } from "../../packages/cli/src/io.ts";
import { buildProgram } from "../../packages/cli/src/program.ts";
import { allRounds, titleOf } from "./plan.ts";

type Command = ReturnType<typeof buildProgram>;

/** The commands that have none below them. */
const verbsBelow = (command: Command, path: readonly string[] = []): string[] =>
  command.commands.length === 0
    ? [path.join(" ")]
    : command.commands.flatMap((sub) => verbsBelow(sub, [...path, sub.name()]));

it("I131 every verb of `agent` is run where numbers were recycled: one that is added has to be added to verbs.ts", () => {
  const run = new Set(allRounds.flatMap(({ cases }) => cases.map(({ row }) => row.verb)));
  const all = verbsBelow(buildProgram(new Invocation(systemIo())));
  expect(all.length).toBeGreaterThan(30);
  expect(all.filter((verb) => !run.has(verb))).toEqual([]);
  expect([...run].filter((verb) => !all.includes(verb))).toEqual([]);
});

it("no two cases of the plan have one title, by which their outcomes are found", () => {
  const titles = allRounds.flatMap(({ cases }) => cases.map(titleOf));
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
});
