import type { Command } from "commander";
import { examples } from "../help.ts";
import { secretEnvironment } from "../inputs.ts";
import type { Invocation } from "../invocation.ts";
import { rowLine } from "../rows.ts";
import { collect } from "./new.ts";

export function addResume(command: Command, invocation: Invocation): void {
  examples(command, "agent session resume build", "agent session resume build --env API_KEY=VALUE");
  command
    .description("bring a session back to ready; acknowledges what is in doubt")
    .argument("<session>", "id, name, or part of an id")
    .option("--env <k[=v]>", "a variable that it needs; may be repeated", collect);
  invocation.handle<{ env?: readonly string[] }>(command, async (context, { env = [] }, [given = ""]) => {
    const session = context.select(given);
    const secrets = secretEnvironment(env, context.io.env);
    const client = await context.client();
    const row = await client.call("session/resume", {
      session,
      requestId: await context.mutationId(),
      ...(Object.keys(secrets).length === 0 ? {} : { secretEnvironment: secrets }),
    });
    await context.answer(row, () => rowLine(row));
  });
}
