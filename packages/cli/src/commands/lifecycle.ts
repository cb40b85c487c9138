import type { Command } from "commander";
import { examples } from "../help.ts";
import { optionValues, sessionName } from "../inputs.ts";
import type { Invocation } from "../invocation.ts";
import { labelOf, rowLine } from "../rows.ts";

const SESSION = "id, name, or part of an id";

/** Verbs that take a session alone and answer with its row. */
const plain = [
  {
    name: "unarchive",
    method: "session/unarchive",
    text: "bring an archived session back to the list, stopped; resume launches it",
    example: "agent session unarchive build",
  },
  {
    name: "retry",
    method: "session/retry",
    text: "recover a failed or recovering session now, outside the budget of automatic recoveries",
    example: "agent session retry build",
  },
  {
    name: "passivate",
    method: "session/passivate",
    text: "release the process of an idle session; the next prompt activates it",
    example: "agent session passivate build",
  },
] as const;

/** What else can be done to a session: `unarchive`, `retry`, `passivate`, `rename`, `set` and `delete`. */
export function addLifecycle(group: Command, invocation: Invocation): void {
  for (const { name, method, text, example } of plain) {
    const command = group.command(name).description(text).argument("<session>", SESSION);
    invocation.handle(examples(command, example), async (context, _options, [given = ""]) => {
      const session = context.select(given);
      const client = await context.client();
      const row = await client.call(method, { session, requestId: await context.mutationId() });
      await context.answer(row, () => rowLine(row));
    });
  }
  addRename(group.command("rename"), invocation);
  addSet(group.command("set"), invocation);
  addDelete(group.command("delete"), invocation);
}

function addRename(command: Command, invocation: Invocation): void {
  command
    .description("give a session another name")
    .argument("<session>", SESSION)
    .argument("<name>", "unique among unarchived sessions");
  examples(command, "agent session rename build release");
  invocation.handle(command, async (context, _options, [given = "", wanted = ""]) => {
    const session = context.select(given);
    const name = sessionName(wanted);
    const client = await context.client();
    const row = await client.call("session/rename", { session, name, requestId: await context.mutationId() });
    await context.answer(row, () => rowLine(row));
  });
}

function addSet(command: Command, invocation: Invocation): void {
  command
    .description("set options of a session's agent, such as its model or mode; `agent session show` lists them")
    .argument("<session>", SESSION)
    .argument("<settings...>", "KEY=VALUE, each key once");
  examples(command, "agent session set build model=small", "agent session set build mode=plan model=large");
  invocation.handle(command, async (context, _options, [given = "", ...settings]) => {
    const session = context.select(given);
    const options = optionValues(settings);
    const client = await context.client();
    const row = await client.call("session/set", { session, options, requestId: await context.mutationId() });
    await context.answer(row, () => rowLine(row));
  });
}

function addDelete(command: Command, invocation: Invocation): void {
  command
    .description("remove a session that has no process, with its transcript; asks first")
    .argument("<session>", SESSION)
    .option("--yes", "do not ask");
  examples(command, "agent session delete build", "agent session delete build --yes --json");
  invocation.handle<{ yes?: boolean }>(command, async (context, { yes = false }, [given = ""]) => {
    let session = context.select(given);
    if (!yes) {
      const { confirmDeletion } = await import("../confirm-deletion.ts");
      session = await confirmDeletion(context, session);
    }
    const client = await context.client();
    const row = await client.call("session/delete", { session, requestId: await context.mutationId() });
    await context.notice(`deleted ${labelOf(row)}`);
    await context.answer(row, () => rowLine(row));
  });
}
