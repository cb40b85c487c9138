import { resolve } from "node:path";
import { ProtocolError } from "@holdfast/client/protocol";
import type { JournalView } from "@holdfast/recovery-journal";
import type { Command } from "commander";
import type { Context } from "../context.ts";
import { addHelp, examples } from "../help.ts";
import type { Invocation } from "../invocation.ts";
import { journalJson, verdictJson } from "../journal-json.ts";
import { journalText, verdictText } from "../journal-text.ts";
import { styleOf } from "../table.ts";
import { usage } from "../usage.ts";

/** What everything exits with that nobody would serve a session from: what is refused, or in quarantine until a person decides. */
const REFUSED_EXIT = 7;

const PATH_HELP = "directory of a journal, one segment of it, or a file of the origin's activity lines";

export function addJournal(command: Command, invocation: Invocation): void {
  examples(
    command,
    "agent journal show ~/.local/state/holdfast/sessions/ID/journal",
    "agent journal verify e00000012.jsonl --json",
  );
  command.description("a journal on disk, as its files say; nothing is written, and no daemon is asked");
  addShow(command.command("show"), invocation);
  addVerify(command.command("verify"), invocation);
  addHelp(command);
}

interface ShowOptions {
  readonly requests?: boolean;
  readonly records?: boolean;
}

function addShow(show: Command, invocation: Invocation): void {
  examples(show, "agent journal show PATH", "agent journal show PATH --records", "agent journal show PATH --json");
  show
    .description("what is open in a journal, and who wrote it; exit 7 if it is refused or in quarantine")
    .argument("<path>", PATH_HELP)
    .option("--requests", "the remembered requests, not only their number")
    .option("--records", "each line, with its offset and sequence");
  invocation.handle<ShowOptions>(show, async (context, options, [given = ""]) => {
    const { path, view } = await look(context, given);
    const { stdout, env } = context.io;
    const lists = { requests: options.requests ?? false, records: options.records ?? false };
    await context.answer({ path, ...journalJson(view, lists) }, () => journalText(view, lists, styleOf(stdout, env)));
    return exitOf(view);
  });
}

function addVerify(verify: Command, invocation: Invocation): void {
  examples(verify, "agent journal verify PATH", "agent journal verify PATH --json");
  verify
    .description("whether a journal is whole; exit 7, with file and byte, if it is refused, or in quarantine")
    .argument("<path>", PATH_HELP);
  invocation.handle(verify, async (context, _options, [given = ""]) => {
    const { path, view } = await look(context, given);
    await context.answer({ path, ...verdictJson(view) }, () => verdictText(path, view, context.io.stdout.isTTY));
    return exitOf(view);
  });
}

type Found = Exclude<JournalView, { kind: "missing" }>;

async function look(context: Context, given: string): Promise<{ path: string; view: Found }> {
  if (given === "") throw usage("the path is empty", "agent journal show PATH");
  const path = resolve(context.io.cwd, given);
  const { viewJournal } = await import("@holdfast/recovery-journal");
  const view = viewJournal(path);
  if (view.kind !== "missing") return { path, view };
  const hint = `the journal of a session is ${context.options.home}/sessions/ID/journal, while it has something to remember`;
  throw new ProtocolError("file_not_found", `there is no ${path}`, { hint });
}

function exitOf({ report }: Found): number {
  const isServed = report.kind === "ok" ? report.quarantines.length === 0 : report.kind !== "refused";
  return isServed ? 0 : REFUSED_EXIT;
}
