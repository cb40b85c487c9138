import type { Command } from "commander";
import { Context } from "./context.ts";
import type { CommonOptions } from "./context.ts";
import { checkHome, homeOf } from "./home.ts";
import type { Io } from "./io.ts";
import { pathOf, usage } from "./usage.ts";

/** Gives the exit status; nothing means 0. */
export type Handler<Options> = (context: Context, options: Options, args: readonly string[]) => Promise<number | void>;

interface GivenOptions {
  readonly home?: string;
  readonly json?: boolean;
  readonly autostart?: boolean;
  readonly requestId?: string;
}

/** One run of the program: what its single command found and made. */
export class Invocation {
  readonly io: Io;
  context: Context | null = null;
  /** The command that runs, as it is typed. */
  command = "agent";
  exitCode = 0;
  /** What commander writes for `--help` and `--version`. */
  help = "";
  /** The command whose words commander refused. */
  refused: Command | null = null;

  constructor(io: Io) {
    this.io = io;
  }

  /** Makes `handler` the action of a command. */
  handle<Options>(command: Command, handler: Handler<Options>): Command {
    return command.action(async () => {
      const context = new Context(this.io, commonOptions(command.optsWithGlobals<GivenOptions>(), this.io));
      this.context = context;
      this.command = pathOf(command);
      this.exitCode = (await handler(context, command.opts<Options & object>(), command.args)) ?? 0;
    });
  }
}

function commonOptions(given: GivenOptions, io: Io): CommonOptions {
  if (given.requestId === "") throw usage("--request-id is empty");
  return {
    home: checkHome(homeOf(given.home, io.env, () => io.cwd)),
    json: given.json ?? false,
    autostart: given.autostart ?? true,
    requestId: given.requestId ?? null,
  };
}
