import { isAbsolute, resolve } from "node:path";
import { ProtocolError } from "@holdfast/client/protocol";
import type { NextStep } from "@holdfast/daemon-supervisor/offline";
import { confirmed } from "./confirm.ts";
import type { Context } from "./context.ts";
import { shellWord } from "./shell-word.ts";
import { printable, styleOf } from "./table.ts";
import { trustTable } from "./trust-text.ts";
import { usage } from "./usage.ts";

const UNTOUCHED = "nothing was touched";

const offline = async () => await (await import("@holdfast/daemon-supervisor/offline")).loadTrust();

/** As the kernel takes it: `link/..` is what the link leads to. */
function pathOf({ io }: Context, given: string | undefined): string {
  if (given === undefined) return io.cwd;
  if (given === "") throw usage("the directory is empty", "leave it out for this directory's project");
  return isAbsolute(given) ? given : `${io.cwd}/${given}`;
}

/** Only the exact path of a project is trusted unasked: any other spelling leads to what nobody has named (I47). */
export async function trustAdd(context: Context, given: string | undefined, yes: boolean): Promise<void> {
  const { projectAt, settingsIn } = await offline();
  const found = projectAt(pathOf(context, given));
  if (found.kind === "none") {
    const hint = found.missing ? "agent trust add takes a directory that is there" : "agent trust check tells more";
    throw new ProtocolError("unsafe_directory", found.reason, { hint });
  }
  const { project } = found;
  const isExact = given === project;
  const words = given ?? "this directory";
  if (!isExact) {
    const what = found.by === "git" ? "the git work tree" : "the directory";
    await context.say(printable(`${words}: its project is ${what} ${project}`));
  }
  await tellSettings(context, settingsIn(project));
  if (!isExact && !yes && !(await confirmed(context, printable(`trust ${project}? [y/N] `), UNTOUCHED)))
    throw new ProtocolError("confirmation_required", `${UNTOUCHED}: ${words} is not the exact path of ${project}`, {
      hint: `agent trust add ${shellWord(project)}`,
    });
  const client = await context.client();
  const row = await client.call("trust/add", {
    requestId: await context.mutationId(),
    directory: project,
    ...(isExact || given === undefined ? {} : { via: given }),
  });
  await context.answer(row, () => printable(`${row.state}: ${row.directory}`));
}

/** By name alone: what they say is not read before it is trusted. */
async function tellSettings(context: Context, names: readonly string[]): Promise<void> {
  if (names.length > 0) await context.say(`trusting it lets run what it has in ${names.join(" and ")}`);
  else await context.notice("it has no settings that would let anything run; whatever it gets later is trusted, too");
}

export async function trustList(context: Context): Promise<void> {
  const { trustedIn } = await offline();
  const directories = trustedIn(context.options.home);
  const { stdout, env } = context.io;
  if (directories.length === 0 && !context.options.json) return await context.say("no directory is trusted");
  await context.answer({ directories }, () => trustTable(directories, styleOf(stdout, env)));
}

/** What the list has comes first: of a directory that is gone, or is a link now, no other spelling leads there. */
export async function trustRemove(context: Context, given: string | undefined): Promise<void> {
  const { projectAt, listedIn } = await offline();
  const path = pathOf(context, given);
  const listed = listedIn(context.options.home);
  const found = projectAt(path);
  const spelled = resolve(path);
  const led = found.kind === "project" ? [found.directory, found.project] : [];
  const directory = [spelled, ...led].find((one) => listed.includes(one)) ?? led.at(-1) ?? spelled;
  const client = await context.client();
  const answer = await client.call("trust/remove", { requestId: await context.mutationId(), directory });
  await context.answer(answer, () =>
    printable(
      answer.removed ? `not trusted any more: ${directory}` : `${directory} was not trusted: nothing has changed`,
    ),
  );
}

export async function trustCheck(context: Context, given: string | undefined): Promise<void> {
  const { checkTrust } = await offline();
  const { check, next } = checkTrust(context.options.home, pathOf(context, given));
  const { project, trusted, reason } = check;
  await context.answer(check, () => {
    if (trusted) return printable(`trusted: ${project}`);
    return [printable(`not trusted: ${reason}`), ...stepLines(context, next, project)].join("\n");
  });
}

function stepLines(context: Context, next: NextStep, project: string | null): string[] {
  if (next === null || project === null) return [];
  const command = next === "doctor" ? "agent doctor" : `agent trust ${next} ${shellWord(printable(project))}`;
  return [context.typed(`  ${command}`)];
}
