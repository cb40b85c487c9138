import { Invocation } from "../../packages/cli/src/invocation.ts";
import { systemIo } from "../../packages/cli/src/io.ts";
import { buildProgram } from "../../packages/cli/src/program.ts";
import { GENERATED, fence, page } from "./markdown.ts";

type Command = ReturnType<typeof buildProgram>;

/** The same on every terminal. */
const WIDTH = 100;

/** Each command with its help, as `agent … --help` prints it. */
function helps(command: Command, path: readonly string[], invocation: Invocation): string[] {
  command.configureHelp({ ...command.configureHelp(), helpWidth: WIDTH });
  invocation.help = "";
  command.outputHelp();
  const own = [`## ${path.join(" ")}`, fence("text", invocation.help.trim())];
  return [...own, ...command.commands.flatMap((sub) => helps(sub, [...path, sub.name()], invocation))];
}

export function cliPage(): string {
  const invocation = new Invocation(systemIo());
  return page(
    "# Commands",
    GENERATED,
    "What `agent … --help` prints. Exit codes: [errors.md](errors.md).",
    ...helps(buildProgram(invocation), ["agent"], invocation),
  );
}
