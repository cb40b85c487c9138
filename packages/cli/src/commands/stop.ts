import { ProtocolError } from "@holdfast/client/protocol";
import type { Command } from "commander";
import { Interrupted } from "../confirm.ts";
import type { Context } from "../context.ts";
import { examples } from "../help.ts";
import type { Invocation } from "../invocation.ts";
import { rowLine } from "../rows.ts";

interface Options {
  readonly force?: boolean;
  readonly archive?: boolean;
  /** False with `--no-wait`. */
  readonly wait: boolean;
}

const GOES_ON = "not waiting any longer: the stop goes on";

export function addStop(command: Command, invocation: Invocation): void {
  examples(command, "agent stop build", "agent stop build --force", "agent session stop build --archive --no-wait");
  command
    .description("stop a session for certain, and wait for its end")
    .argument("<session>", "id, name, or part of an id")
    .option("--force", "do not wait for a graceful end")
    .option("--archive", "archive it too")
    .option("--no-wait", "answer within 2 s: stopped, or stopping (exit 8)");
  invocation.handle<Options>(command, async (context, options, [given = ""]) => {
    await stopSession(context, given, options);
  });
}

export function addArchive(command: Command, invocation: Invocation): void {
  examples(command, "agent session archive build", "agent session list --archived");
  command
    .description("stop a session and hide it from lists; its name becomes free")
    .argument("<session>", "id, name, or part of an id");
  invocation.handle(command, async (context, _options, [given = ""]) => {
    await stopSession(context, given, { archive: true, wait: true });
  });
}

async function stopSession(context: Context, given: string, { force, archive, wait }: Options): Promise<void> {
  const session = context.select(given);
  const leave = new AbortController();
  const client = await context.client();
  const requestId = await context.mutationId();
  const interrupt = context.io.onSignal("SIGINT", () => leave.abort(new Interrupted(GOES_ON)));
  await context.notice(`stopping ${session}`);
  try {
    const params = { session, requestId, wait, ...(force ? { force } : {}), ...(archive ? { archive } : {}) };
    const row = await client.call("session/stop", params, { signal: leave.signal });
    await context.answer(row, () => rowLine(row));
    if (row.state !== "stopping") return;
    throw new ProtocolError("stopping", `still stopping${row.killAt ? `; killed at ${row.killAt}` : ""}`, {
      hint: `agent session show ${session}`,
    });
  } finally {
    interrupt[Symbol.dispose]();
  }
}
