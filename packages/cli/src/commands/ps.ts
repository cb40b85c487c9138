import { ProtocolError } from "@holdfast/client/protocol";
import type { Command } from "commander";
import type { Context } from "../context.ts";
import { confirmed } from "../confirm.ts";
import { examples } from "../help.ts";
import { homeOf } from "../home.ts";
import type { Invocation } from "../invocation.ts";
import { psText } from "../ps-text.ts";
import { styleOf } from "../table.ts";
import { usage } from "../usage.ts";

interface Options {
  readonly forceStop?: boolean;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function addPs(command: Command, invocation: Invocation): void {
  examples(
    command,
    "agent ps                          daemons and workers of every home",
    "agent ps --force-stop --dry-run   what would be stopped in this home",
    "agent ps --force-stop --yes       stop it, without a question",
    "agent ps --force-stop --all       stop those of every home",
  );
  command
    .description("every daemon and worker of yours on this machine, of every home, and what became of them")
    .option("--force-stop", "stop those of this home for certain, by identity")
    .option("--all", "with --force-stop: those of every home")
    .option("--dry-run", "with --force-stop: only say what would be stopped")
    .option("--yes", "with --force-stop: do not ask");
  invocation.handle<Options>(command, async (context, options) => {
    if (options.forceStop) return await forceStop(context, options);
    if (options.all || options.dryRun || options.yes)
      throw usage("--all, --dry-run and --yes belong to --force-stop", "agent ps --force-stop --dry-run");
    const { psReport } = await import("@holdfast/daemon-supervisor/offline");
    const { io } = context;
    const report = await psReport(
      context.options.home,
      homeOf(undefined, io.env, () => io.cwd),
    );
    await context.answer(report, () => psText(report, styleOf(io.stdout, io.env)));
    return 0;
  });
}

const UNTOUCHED = "nothing was touched";

async function forceStop(context: Context, { all = false, dryRun, yes }: Options): Promise<number> {
  const request = { home: context.options.home, all };
  const [offline, text] = await Promise.all([
    import("@holdfast/daemon-supervisor/offline"),
    import("../force-stop-text.ts"),
  ]);
  const plan = offline.planForceStop(request);
  for (const line of text.planText(plan)) await context.say(line);
  if (dryRun) {
    if (context.options.json) await context.answer(offline.dryRun(plan), () => "");
    return 0;
  }
  if (!offline.isEmpty(plan) && !yes && !(await confirmed(context, "stop them? [y/N] ", UNTOUCHED))) {
    const hint = `agent ps --force-stop ${all ? "--all " : ""}--yes`;
    throw new ProtocolError("confirmation_required", UNTOUCHED, { hint });
  }
  const { programs } = await import("../programs.ts");
  const outcome = await offline.forceStop(request, plan, {
    workerProgram: programs().worker,
    onProgress: (line) => void context.notice(line),
  });
  await context.answer(outcome, () => text.reportText(outcome));
  return outcome.failed.length > 0 ? 1 : 0;
}
