import type { Command } from "commander";
import { promptText, selector } from "../inputs.ts";
import type { Invocation } from "../invocation.ts";
import { rowLine } from "../rows.ts";

/** These verbs never wait for a turn; the flag is there so that scripts can treat them like `prompt`. */
const NO_WAIT = "answer once it is accepted (these verbs always do)";
const SESSION = "id, name, or part of an id";

/** `steer`, `follow-up` and `cancel`: what else can be done to a turn. */
export function addSteering(session: Command, invocation: Invocation): void {
  const steer = session
    .command("steer")
    .description("reach the running turn; says whether it was injected, interrupted or queued")
    .argument("<session>", SESSION)
    .argument("<text>", "- reads standard input")
    .option("--interrupt", "cancel the running turn and prompt at once")
    .option("--no-wait", NO_WAIT);
  invocation.handle<{ interrupt?: boolean }>(steer, async (context, { interrupt }, [given = "", argument = ""]) => {
    const selected = selector(given);
    const text = await promptText(argument, context.io);
    const client = await context.client();
    const outcome = await client.call("session/steer", {
      session: selected,
      text,
      requestId: await context.mutationId(),
      ...(interrupt ? { interrupt } : {}),
    });
    await context.answer(outcome, () => `${outcome.status}: ${outcome.actionId}`);
  });

  const followUp = session
    .command("follow-up")
    .description("queue a prompt after the running turn")
    .argument("<session>", SESSION)
    .argument("<text>", "- reads standard input")
    .option("--no-wait", NO_WAIT);
  invocation.handle(followUp, async (context, _options, [given = "", argument = ""]) => {
    const selected = selector(given);
    const text = await promptText(argument, context.io);
    const client = await context.client();
    const requestId = await context.mutationId();
    const outcome = await client.call("session/follow_up", { session: selected, text, requestId });
    await context.answer(outcome, () => `${outcome.status}: ${outcome.actionId}`);
  });

  const cancel = session
    .command("cancel")
    .description("end the running turn; the session stays")
    .argument("<session>", SESSION);
  invocation.handle(cancel, async (context, _options, [given = ""]) => {
    const selected = selector(given);
    const client = await context.client();
    const row = await client.call("session/cancel", { session: selected, requestId: await context.mutationId() });
    await context.answer(row, () => rowLine(row));
  });
}
