import type { DaemonStatus } from "@holdfast/client/protocol";
import type { Command } from "commander";
import type { Context } from "../context.ts";
import type { Invocation } from "../invocation.ts";
import { isCode } from "../reads.ts";
import { nearest, usage } from "../usage.ts";

export function addDaemon(daemon: Command, invocation: Invocation): void {
  daemon
    .description("the daemon of a home; without a verb it runs in the foreground")
    .usage("[run|start|stop|restart|status|logs] [options]")
    .argument("[verb]")
    .addHelpText(
      "after",
      `
Examples:
  agent daemon start            detached
  agent daemon restart          a new one takes over; sessions keep running
  agent daemon status --quiet   its pid alone`,
    );
  invocation.handle(daemon, async (context, _options, [verb]) => {
    if (verb === undefined) return await runForeground(context);
    const close = nearest(
      verb,
      daemon.commands.map((command) => command.name()),
    );
    throw usage(`unknown command 'daemon ${verb}'`, close ? `Did you mean ${close}?` : "agent help daemon");
  });
  invocation.handle(daemon.command("run").description("in the foreground"), runForeground);
  invocation.handle(daemon.command("start").description("detached; returns when it answers"), start);
  addStop(daemon.command("stop"), invocation);
  invocation.handle(daemon.command("restart").description("a new one; sessions keep running"), async (context) => {
    const { stopDaemon } = await import("../stop-daemon.ts");
    await stopDaemon(context, "keep_workers");
    await start(context);
  });
  const status = daemon.command("status").description("what the daemon is and has counted");
  invocation.handle<{ quiet?: boolean }>(
    status.option("--quiet", "the pid alone"),
    async (context, { quiet = false }) => {
      const client = await context.clientWithoutStart();
      const answer = await client.call("daemon/status", {});
      if (quiet) await context.print(String(answer.pid));
      else await context.answer(answer, () => statusText(answer));
    },
  );
  const logs = daemon.command("logs").description("the end of the daemon's log");
  invocation.handle<{ follow?: boolean }>(
    logs.option("-f, --follow", "go on with what comes"),
    async (context, more) => {
      const { daemonLogs } = await import("../daemon-logs.ts");
      await daemonLogs(context, more.follow ?? false);
    },
  );
}

function addStop(stop: Command, invocation: Invocation): void {
  stop
    .description("passivate what is idle and end the daemon")
    .option("--force", "interrupt busy sessions, visibly")
    .option("--keep-workers", "leave the sessions running for the next daemon");
  invocation.handle<{ force?: boolean; keepWorkers?: boolean }>(stop, async (context, { force, keepWorkers }) => {
    if (force && keepWorkers) throw usage("--force and --keep-workers exclude each other");
    const { stopDaemon } = await import("../stop-daemon.ts");
    const outcome = await stopDaemon(context, force ? "force" : keepWorkers ? "keep_workers" : "ask");
    await context.answer(outcome, () =>
      outcome.stopped ? `stopped the daemon (pid ${outcome.pid})` : `no daemon runs for ${context.options.home}`,
    );
  });
}

async function runForeground({ options: { home } }: Context): Promise<number> {
  const [{ runSupervisor }, { programs }] = await Promise.all([
    import("@holdfast/daemon-supervisor/main"),
    import("../programs.ts"),
  ]);
  return await runSupervisor({ home, workerProgram: programs().worker, foreground: true });
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
  const lines = Object.entries(status).map(([key, value]) => `${key.padEnd(12)} ${value}`);
  const count = Object.entries(sessions).map(([state, number]) => `${number} ${state}`);
  lines.push(`${"sessions".padEnd(12)} ${count.join(", ") || "none"}`);
  for (const [name, value] of Object.entries(counters)) if (value > 0) lines.push(`${name.padEnd(12)} ${value}`);
  return lines.join("\n");
}
