import { CommanderError } from "commander";
import { OWN_FAILURE_EXIT, exitOf, failureOf, failureText } from "./failure.ts";
import { Interrupted } from "./confirm.ts";
import { withHint } from "./hints.ts";
import { Invocation } from "./invocation.ts";
import { OutputClosed } from "./io.ts";
import type { Io } from "./io.ts";
import { buildProgram } from "./program.ts";
import { refuseOptionLikeText } from "./option-like-text.ts";
import { usage, usageOf } from "./usage.ts";

const INTERRUPTED_EXIT = 130;

/** Runs one command line and gives its exit status (CLI.md §4). Never throws. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const invocation = new Invocation(io);
  try {
    const program = buildProgram(invocation);
    refuseOptionLikeText(argv, program);
    await program.parseAsync(argv, { from: "user" });
    return invocation.exitCode;
  } catch (error) {
    return await conclude(error, argv, invocation);
  } finally {
    invocation.context?.close();
  }
}

async function conclude(error: unknown, argv: readonly string[], invocation: Invocation): Promise<number> {
  const { io, help } = invocation;
  // The reader of a list needs no more of it (I151).
  if (error instanceof OutputClosed) return 0;
  if (error instanceof CommanderError && error.exitCode === 0) {
    await quietly(() => io.stdout.write(help));
    return 0;
  }
  if (error instanceof Interrupted) {
    if (error.message !== "") await quietly(() => io.stderr.write(`${error.message}\n`));
    return INTERRUPTED_EXIT;
  }
  const given = before(argv, "--");
  const json = given.includes("--json") || given.join(" ").includes("--output json") || given.includes("--output=json");
  if (error instanceof CommanderError && error.code === "commander.help" && !json) {
    await quietly(() => io.stderr.write(help));
    return exitOf("usage");
  }
  const typed = { command: invocation.command, session: invocation.context?.session ?? null };
  const failure = withHint(failureOf(inOurForm(error, invocation)), typed);
  const requestId = invocation.context?.requestId ?? null;
  await quietly(() => io.stderr.write(failureText(failure, { json, requestId })));
  return given.includes("--exit-code") ? OWN_FAILURE_EXIT : exitOf(failure.code);
}

function inOurForm(error: unknown, { refused }: Invocation): unknown {
  if (!(error instanceof CommanderError)) return error;
  return refused ? usageOf(error, refused) : usage(error.message, "agent --help");
}

const before = (words: readonly string[], end: string): readonly string[] =>
  words.includes(end) ? words.slice(0, words.indexOf(end)) : words;

async function quietly(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch {
    // Standard output or error is closed: there is nobody to tell, and the exit status says the rest.
  }
}
