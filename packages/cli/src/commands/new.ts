import type { SessionRow } from "@holdfast/client/protocol";
import { resolve } from "node:path";
import type { Command } from "commander";
import { runAttach } from "../run-attach.ts";
import type { Context } from "../context.ts";
import { promptText, secretEnvironment, sessionName } from "../inputs.ts";
import type { Invocation } from "../invocation.ts";
import { labelOf } from "../rows.ts";
import { usage } from "../usage.ts";

interface Options {
  readonly agent?: string;
  readonly cwd?: string;
  readonly name?: string;
  readonly ensure?: boolean;
  readonly env: readonly string[];
  readonly prompt?: string;
  readonly attach?: boolean;
}

export const collect = (value: string, all: readonly string[]): readonly string[] => [...all, value];

export function addNew(command: Command, invocation: Invocation): void {
  command
    .description("create a session and wait until it is ready")
    .option("--agent <agent>", "what to talk to (shell)")
    .option("--cwd <dir>", "its directory (this one)")
    .option("--name <name>", "a name, unique among unarchived sessions")
    .option("--ensure", "take the session of that name if there is one")
    .option("--env <k[=v]>", "a variable, kept in memory only; may be repeated", collect, [])
    .option("--prompt <text>", "send a first prompt and stream its answer; - reads standard input")
    .option("--attach", "watch it")
    .addHelpText(
      "after",
      `
Examples:
  agent new --name build
  agent new --cwd ~/project --prompt 'make test'
  agent new --name build --ensure --json`,
    );
  invocation.handle<Options>(command, async (context, options) => {
    if (options.ensure && options.name === undefined) throw usage("--ensure needs --name", "--name NAME --ensure");
    if (options.prompt !== undefined && options.attach) throw usage("--prompt and --attach exclude each other");
    const text = options.prompt === undefined ? null : await promptText(options.prompt, context.io);
    const row = await create(context, options);
    if (text !== null) return await promptNew(context, row, text);
    if (!options.attach || context.options.json) await announce(context, row);
    return options.attach ? await runAttach(context, { session: row.sessionId, follow: true }) : 0;
  });
}

type Created = SessionRow & { created: boolean };

async function create(context: Context, { agent, cwd, name, ensure, env }: Options): Promise<Created> {
  const { io } = context;
  const checkedName = name === undefined ? {} : { name: sessionName(name) };
  const secrets = secretEnvironment(env, io.env);
  if (cwd === "") throw usage("--cwd is empty");
  const { sessionEnvironment } = await import("@holdfast/shared-process");
  const client = await context.client();
  return await client.call("session/new", {
    requestId: await context.mutationId(),
    cwd: resolve(io.cwd, cwd ?? "."),
    environment: sessionEnvironment(io.env),
    ...checkedName,
    ...(agent === undefined ? {} : { agent }),
    ...(ensure ? { ensure } : {}),
    ...(Object.keys(secrets).length === 0 ? {} : { secretEnvironment: secrets }),
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

async function announce(context: Context, row: Created): Promise<void> {
  const label = labelOf(row);
  await context.answer(row, () =>
    [
      `session ${row.sessionId}${row.name ? ` (${row.name})` : ""} is ${row.created ? row.state : `there: ${row.state}`}: ${row.agent} in ${row.cwd}`,
      `  agent prompt ${label} TEXT · agent attach ${label} · agent stop ${label}`,
    ].join("\n"),
  );
}
