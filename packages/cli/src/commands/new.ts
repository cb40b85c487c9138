import { ProtocolError } from "@holdfast/client/protocol";
import type { SessionRow } from "@holdfast/client/protocol";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { Context } from "../context.ts";
import { examples } from "../help.ts";
import { promptText, secretEnvironment, sessionName } from "../inputs.ts";
import type { Invocation } from "../invocation.ts";
import { labelOf } from "../rows.ts";
import { shellWord } from "../shell-word.ts";
import { printable } from "../table.ts";
import { usage } from "../usage.ts";

interface Options {
  readonly agent?: string;
  readonly cwd?: string;
  readonly name?: string;
  readonly ensure?: boolean;
  readonly env?: readonly string[];
  readonly prompt?: string;
  readonly attach?: boolean;
}

export const collect = (value: string, all: readonly string[] = []): readonly string[] => [...all, value];

export function addNew(command: Command, invocation: Invocation): void {
  command
    .description("create a session and wait until it is ready")
    .option("--agent <agent>", "what to talk to (shell)")
    .option("--cwd <dir>", "its directory (this one)")
    .option("--name <name>", "a name, unique among unarchived sessions")
    .option("--ensure", "take the session of that name if there is one")
    .option("--env <k[=v]>", "a variable, kept in memory only; may be repeated", collect)
    .option("--prompt <text>", "send a first prompt and stream its answer; - reads standard input")
    .option("--attach", "watch it");
  examples(
    command,
    "agent new --name build",
    "agent new --cwd ~/project --prompt 'make test'",
    "agent new --name build --ensure --json",
  );
  invocation.handle<Options>(command, async (context, options) => {
    if (options.ensure && options.name === undefined) throw usage("--ensure needs --name", "--name NAME --ensure");
    if (options.prompt !== undefined && options.attach)
      throw usage("--prompt and --attach exclude each other", "agent new --prompt TEXT, then agent attach");
    const text = options.prompt === undefined ? null : await promptText(options.prompt, context.io);
    const row = await create(context, options);
    if (text !== null) return await promptNew(context, row, text);
    await announce(context, row, options.attach ?? false);
    if (!options.attach) return 0;
    const { runAttach } = await import("../run-attach.ts");
    return await runAttach(context, { session: labelOf(row), follow: true });
  });
}

type Created = SessionRow & { created: boolean };

async function create(context: Context, { agent, cwd, name, ensure, env }: Options): Promise<Created> {
  const { io } = context;
  const checkedName = name === undefined ? {} : { name: sessionName(name) };
  const secrets = secretEnvironment(env ?? [], io.env);
  if (cwd === "") throw usage("--cwd is empty", "--cwd DIR, or leave it out for this directory");
  if (ensure && name !== undefined) context.select(name);
  const { sessionEnvironment } = await import("@holdfast/shared-process");
  const client = await context.client();
  const params = {
    requestId: await context.mutationId(),
    cwd: resolve(io.cwd, cwd ?? "."),
    environment: sessionEnvironment(io.env),
    ...checkedName,
    ...(agent === undefined ? {} : { agent }),
    ...(ensure ? { ensure } : {}),
    ...(Object.keys(secrets).length === 0 ? {} : { secretEnvironment: secrets }),
  };
  try {
    return await client.call("session/new", params);
  } catch (error) {
    throw ensure ? otherSession(error, name ?? "") : error;
  }
}

/** `--ensure` takes a session as it is: says which one has the name, and how to take it. */
function otherSession(error: unknown, name: string): unknown {
  if (!(error instanceof ProtocolError) || error.code !== "name_in_use") return error;
  const { cwd, agent } = error.data ?? {};
  if (typeof cwd !== "string" || typeof agent !== "string") return error;
  return new ProtocolError("name_in_use", `the session ${name} has another directory or agent: ${agent} in ${cwd}`, {
    hint: `--name ${name} --ensure --agent ${agent} --cwd ${shellWord(cwd)} takes it; another --name makes one here`,
  });
}

async function promptNew(context: Context, row: Created, text: string): Promise<number> {
  if (context.options.json) await context.print(JSON.stringify({ type: "session", ...row }));
  const { runPrompt } = await import("../run-prompt.ts");
  const requestId = await context.mutationId("prompt");
  return await runPrompt(context, {
    session: row.sessionId,
    text,
    requestId,
    form: "text",
    passStatus: false,
    timeoutMs: null,
  });
}

async function announce(context: Context, row: Created, watched: boolean): Promise<void> {
  const label = labelOf(row);
  await context.answer(row, () =>
    [
      `session ${row.sessionId}${row.name ? ` (${row.name})` : ""} is ${row.created ? row.state : `there: ${row.state}`}: ${row.agent} in ${printable(row.cwd)}`,
      ...(watched ? [] : [context.typed(`  agent prompt ${label} TEXT · agent attach ${label} · agent stop ${label}`)]),
    ].join("\n"),
  );
}
