import type { Command } from "commander";
import { answerForms } from "../answer-writer.ts";
import { parseDuration } from "../duration.ts";
import { promptText, selector } from "../inputs.ts";
import type { Invocation } from "../invocation.ts";
import { usage } from "../usage.ts";

interface Options {
  /** False with `--no-wait`. */
  readonly wait: boolean;
  readonly timeout?: string;
  readonly exitCode?: boolean;
  readonly output?: string;
}

export function addPrompt(command: Command, invocation: Invocation): void {
  command
    .description("send a prompt and stream its answer")
    .argument("<session>", "id, name, or part of an id")
    .argument("<text>", "the prompt; - reads standard input, unchanged")
    .option("--no-wait", "return as soon as it is accepted")
    .option("--timeout <duration>", "stop waiting then; the turn goes on")
    .option("--exit-code", "pass a shell command's own status on; our errors become 125")
    .option("--output <form>", "text, final or json", "text")
    .addHelpText(
      "after",
      `
Examples:
  agent prompt build 'make test'
  agent prompt build - < script.sh
  agent prompt build --exit-code --timeout 10m 'pnpm test'

Ctrl-C detaches and the turn goes on; Ctrl-C again within 2 s cancels it.`,
    );
  invocation.handle<Options>(command, async (context, options, [given = "", argument = ""]) => {
    const session = selector(given);
    const form = answerForms.find((name) => name === options.output);
    if (!form) throw usage(`--output: not ${answerForms.join(", ")}: ${options.output ?? ""}`);
    const timeoutMs = options.timeout === undefined ? null : parseDuration(options.timeout, "--timeout");
    const text = await promptText(argument, context.io);
    const requestId = await context.mutationId();
    if (options.wait) {
      const { runPrompt } = await import("../run-prompt.ts");
      const passStatus = options.exitCode ?? false;
      return await runPrompt(context, { session, text, requestId, form, passStatus, timeoutMs });
    }
    const client = await context.client();
    const accepted = await client.call("session/prompt", { session, text, requestId });
    await context.answer(accepted, () => `accepted: ${accepted.actionId}`);
    return 0;
  });
}
