import type { Command } from "commander";
import type { Context } from "../context.ts";
import { examples } from "../help.ts";
import { promptText } from "../inputs.ts";
import type { Invocation } from "../invocation.ts";
import { isCode } from "../reads.ts";
import { rowLine } from "../rows.ts";
import { submitAlone } from "../submit.ts";

/** These verbs never wait for a turn; the flag is there so that scripts can treat them like `prompt`. */
const NO_WAIT = "answer once it is accepted (these verbs always do)";
const SESSION = "id, name, or part of an id";

/** `steer`, `follow-up` and `cancel`: what else can be done to a turn. */
export function addSteering(session: Command, invocation: Invocation): void {
  const steer = session
    .command("steer")
    .description("reach the running turn; says whether it was injected, interrupted or queued")
    .argument("<session>", SESSION)
    .argument(
      "<text>",
      "goes to the running command's standard input; what it does not read is dropped. - reads standard input",
    )
    .option("--interrupt", "cancel the running turn and prompt at once")
    .option("--no-wait", NO_WAIT);
  examples(steer, "agent session steer build yes", "agent session steer build --interrupt 'make clean'");
  invocation.handle<{ interrupt?: boolean }>(steer, async (context, { interrupt }, [given = "", argument = ""]) => {
    const selected = context.select(given);
    const text = await promptText(argument, context.io);
    const requestId = await context.mutationId();
    const params = { session: selected, text, requestId, ...(interrupt ? { interrupt } : {}) };
    const outcome = await submitAlone(context, { method: "session/steer", params });
    await context.answer(outcome, () => `${outcome.status}: ${outcome.actionId}`);
  });

  const followUp = session
    .command("follow-up")
    .description("queue a prompt after the running turn")
    .argument("<session>", SESSION)
    .argument("<text>", "the prompt; - reads standard input, unchanged")
    .option("--no-wait", NO_WAIT);
  examples(followUp, "agent session follow-up build 'make install'");
  invocation.handle(followUp, async (context, _options, [given = "", argument = ""]) => {
    const selected = context.select(given);
    const text = await promptText(argument, context.io);
    const params = { session: selected, text, requestId: await context.mutationId() };
    const outcome = await submitAlone(context, { method: "session/follow_up", params });
    await context.answer(outcome, () => `${outcome.status}: ${outcome.actionId}`);
  });

  const cancel = session
    .command("cancel")
    .description("end the running turn; the session stays")
    .argument("<session>", SESSION);
  examples(cancel, "agent session cancel build");
  invocation.handle(cancel, async (context, _options, [given = ""]) => {
    const selected = context.select(given);
    const client = await context.client();
    const working = context.options.json ? null : await isWorking(context, selected);
    const row = await client.call("session/cancel", { session: selected, requestId: await context.mutationId() });
    await context.answer(row, () =>
      working === null ? rowLine(row) : working ? "cancelled the turn" : "no turn runs",
    );
  });
}

/** The answer to a cancel does not say whether there was a turn. `null` where no daemon could tell before it. */
async function isWorking(context: Context, session: string): Promise<boolean | null> {
  const client = await context.client();
  try {
    return (await client.call("session/show", { session })).activity !== "idle";
  } catch (error) {
    if (isCode(error, "daemon_not_running")) return null;
    throw error;
  }
}
