import { ProtocolError } from "@holdfast/client/protocol";
import type { ForceStopPlan } from "@holdfast/daemon-supervisor/offline";
import type { Command } from "commander";
import type { Context } from "../context.ts";
import { confirmed } from "../confirm.ts";
import { examples } from "../help.ts";
import type { Invocation } from "../invocation.ts";
import { psText } from "../ps-text.ts";
import { styleOf } from "../table.ts";
import { usage } from "../usage.ts";

interface Options {
  readonly forceStop?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function addPs(command: Command, invocation: Invocation): void {
  examples(command, "agent ps", "agent ps --force-stop --dry-run", "agent ps --force-stop --yes");
  command
    .description("the daemon and workers of this home, and what became of them")
    .option("--force-stop", "stop them all for certain, by identity")
    .option("--dry-run", "only say what would be stopped")
    .option("--yes", "do not ask");
  invocation.handle<Options>(command, async (context, options) => {
    if (options.forceStop) return await forceStop(context, options);
    if (options.dryRun || options.yes)
      throw usage("--dry-run and --yes belong to --force-stop", "agent ps --force-stop --dry-run");
    const { psOffline } = await import("@holdfast/daemon-supervisor/offline");
    const report = await psOffline(context.options.home);
    const { stdout, env } = context.io;
    await context.answer(report, () => psText(report, styleOf(stdout, env)));
    return 0;
  });
}

const UNTOUCHED = "nothing was touched";

async function forceStop(context: Context, { dryRun, yes }: Options): Promise<number> {
  const { home } = context.options;
  const offline = await import("@holdfast/daemon-supervisor/offline");
  const plan = await offline.planForceStop(home);
  for (const line of planText(plan, home)) await context.say(line);
  if (dryRun) {
    if (context.options.json)
      await context.answer({ stopped: [], kept: [], failed: [], plan: planEntries(plan) }, () => "");
    return 0;
  }
  const something = plan.daemon !== null || plan.workers.length > 0;
  if (something && !yes && !(await confirmed(context, "stop them? [y/N] ", UNTOUCHED)))
    throw new ProtocolError("confirmation_required", UNTOUCHED, { hint: "agent ps --force-stop --yes" });
  const { programs } = await import("../programs.ts");
  const outcome = await offline.forceStop(home, {
    workerProgram: programs().worker,
    onProgress: (text) => void context.notice(text),
  });
  await context.answer(outcome, () => {
    const failed = outcome.failed.map(({ kind, id, reason }) => `not stopped: ${kind} ${id}: ${reason}`);
    return [`stopped ${outcome.stopped.length}, kept ${outcome.kept.length}`, ...failed].join("\n");
  });
  return outcome.failed.length > 0 ? 1 : 0;
}

/** As they would stand in the report. */
const planEntries = ({ daemon, workers }: ForceStopPlan) => [
  ...(daemon ? [{ kind: "daemon", id: daemon.startId, pid: daemon.pid }] : []),
  ...workers.map(({ sessionId, pid }) => ({ kind: "worker", id: sessionId, pid })),
];

/** Nothing of another home is looked at, so nothing of one can be touched. */
function planText({ daemon, workers }: ForceStopPlan, home: string): string[] {
  if (daemon === null && workers.length === 0) return [`nothing to stop in ${home}`];
  return [
    ...(daemon ? [`will stop: daemon, pid ${daemon.pid}`] : []),
    ...workers.map(({ sessionId, name, pid, verdict }) => {
      const proof = verdict === "current" ? "" : `, ${verdict}: only what can be proven is signalled`;
      return `will stop: worker of ${name ?? sessionId}, pid ${pid}${proof}`;
    }),
    "not touched: other homes",
  ];
}
