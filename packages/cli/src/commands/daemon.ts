import type { DaemonStatus } from "@holdfast/client/protocol";
import { ProtocolError } from "@holdfast/client/protocol";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { Context } from "../context.ts";
import { addHelp, examples } from "../help.ts";
import type { Invocation } from "../invocation.ts";
import { isCode } from "../reads.ts";
import { helpOf, commandHint, usage } from "../usage.ts";

export function addDaemon(daemon: Command, invocation: Invocation): void {
  daemon
    .description("the daemon of a home; without a verb it runs in the foreground")
    .usage("[run|start|stop|restart|status|logs] [options]")
    .argument("[verb]");
  examples(
    daemon,
    "agent daemon start            detached",
    "agent daemon restart          a new one takes over; sessions keep running",
    "agent daemon status --quiet   its pid alone",
  );
  invocation.handle(daemon, async (context, _options, [verb]) => {
    if (verb === undefined) return await runForeground(context);
    throw usage(`unknown command 'daemon ${verb}'`, commandHint(verb, daemon) ?? helpOf(daemon));
  });
  const run = daemon.command("run").description("in the foreground; ending it leaves the workers running");
  invocation.handle(examples(run, "agent daemon run"), runForeground);
  const detached = daemon.command("start").description("detached; returns when it answers");
  invocation.handle(examples(detached, "agent daemon start", "agent daemon start --home DIR --json"), start);
  addStop(daemon.command("stop"), invocation);
  const restart = daemon.command("restart").description("a new one; sessions keep running");
  invocation.handle(examples(restart, "agent daemon restart"), async (context) => {
    const { stopDaemon } = await import("../stop-daemon.ts");
    await requireSuccessor(context);
    await stopDaemon(context, "keep_workers");
    await start(context);
  });
  addStatus(daemon.command("status"), invocation);
  addLogs(daemon.command("logs"), invocation);
  addHelp(daemon);
}

function addStatus(status: Command, invocation: Invocation): void {
  status.description("what the daemon is and has counted; exit 3 without one");
  examples(status, "agent daemon status", "agent daemon status --json", "agent daemon status --quiet");
  invocation.handle<{ quiet?: boolean }>(
    status.option("--quiet", "the pid alone"),
    async (context, { quiet = false }) => {
      if (quiet && context.options.json)
        throw usage("--quiet and --json exclude each other", "--json alone prints the pid too");
      const client = await context.clientWithoutStart();
      const answer = await client.call("daemon/status", {});
      if (quiet) await context.print(String(answer.pid));
      else await context.answer(answer, () => statusText(answer));
    },
  );
}

function addLogs(logs: Command, invocation: Invocation): void {
  logs.description("the end of the daemon's log; JSON lines off a terminal or with --json");
  examples(logs, "agent daemon logs", "agent daemon logs -f");
  invocation.handle<{ follow?: boolean }>(
    logs.option("-f, --follow", "go on with what comes"),
    async (context, more) => {
      const { daemonLogs } = await import("../daemon-logs.ts");
      await daemonLogs(context, more.follow ?? false);
    },
  );
}

function addStop(stop: Command, invocation: Invocation): void {
  examples(stop, "agent daemon stop", "agent daemon stop --force", "agent daemon stop --keep-workers");
  stop
    .description("passivate what is idle and end the daemon")
    .option("--force", "interrupt busy sessions, visibly")
    .option("--keep-workers", "leave the sessions running for the next daemon");
  invocation.handle<{ force?: boolean; keepWorkers?: boolean }>(stop, async (context, { force, keepWorkers }) => {
    if (force && keepWorkers)
      throw usage(
        "--force and --keep-workers exclude each other",
        "--force ends the sessions, --keep-workers does not",
      );
    const { stopDaemon } = await import("../stop-daemon.ts");
    const outcome = await stopDaemon(context, force ? "force" : keepWorkers ? "keep_workers" : "ask");
    await context.answer(outcome, () =>
      outcome.stopped ? `stopped the daemon (pid ${outcome.pid})` : `no daemon runs for ${context.options.home}`,
    );
  });
}

async function runForeground(context: Context): Promise<number> {
  const { home } = context.options;
  const [{ runSupervisor }, { programs }] = await Promise.all([
    import("@holdfast/daemon-supervisor/main"),
    import("../programs.ts"),
  ]);
  const ended = new AbortController();
  const announced = context.io.stderr.isTTY ? announceServing(context, ended.signal) : null;
  try {
    const { supervisor, worker } = programs();
    return await runSupervisor({ home, workerProgram: worker, supervisorProgram: supervisor, foreground: true });
  } catch (error) {
    const { startFailure } = await import("../start-daemon.ts");
    throw startFailure(home, error);
  } finally {
    ended.abort();
    await announced;
  }
}

const SERVING_POLL_MS = 50;

/** The owner record says when this process serves. */
async function announceServing(context: Context, ended: AbortSignal): Promise<void> {
  const { findOwner } = await import("@holdfast/client");
  const { home } = context.options;
  while (!ended.aborted) {
    const owner = findOwner(home);
    if (owner.kind === "found" && owner.record.phase === "serving" && owner.record.identity.pid === process.pid)
      return await context.say(`serving ${home} (pid ${process.pid}); Ctrl-C leaves the workers running`);
    await sleep(SERVING_POLL_MS);
  }
}

/** What the daemon that runs has in memory alone ends with it: it is left where no other one could follow. */
async function requireSuccessor({ options: { home } }: Context): Promise<void> {
  const [supervisor, { reasonOf }] = await Promise.all([
    import("@holdfast/daemon-supervisor/offline"),
    import("@holdfast/shared-process"),
  ]);
  try {
    supervisor.requireSuccessor(home);
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const message = `nothing was ended, as no other daemon could start: ${reasonOf(error)}`;
    throw new ProtocolError("daemon_start_failed", message, { hint: "agent doctor tells what cannot be written" });
  }
}

async function start(context: Context): Promise<void> {
  const client = await context.clientWithoutStart();
  let status: DaemonStatus;
  try {
    status = await client.call("daemon/status", {});
  } catch (error) {
    if (!isCode(error, "daemon_not_running")) throw error;
    await context.startDaemon();
    status = await client.call("daemon/status", {});
  }
  await context.answer(status, () => `daemon running: pid ${status.pid}, ${status.home}`);
}

function statusText({ sessions, counters, ...status }: DaemonStatus): string {
  const lines = Object.entries(status).map(
    ([key, value]) => `${key.padEnd(12)} ${typeof value === "number" ? Math.round(value) : value}`,
  );
  const count = Object.entries(sessions).map(([state, number]) => `${number} ${state}`);
  lines.push(`${"sessions".padEnd(12)} ${count.join(", ") || "none"}`);
  for (const [name, value] of Object.entries(counters)) if (value > 0) lines.push(`${name.padEnd(12)} ${value}`);
  return lines.join("\n");
}
