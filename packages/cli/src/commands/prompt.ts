import type { Command } from "commander";
import { answerForms } from "../answer-writer.ts";
import type { AnswerForm } from "../answer-writer.ts";
import { parseDuration } from "../duration.ts";
import { examples } from "../help.ts";
import { promptText } from "../inputs.ts";
import type { Invocation } from "../invocation.ts";
import { submitAlone } from "../submit.ts";
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
    .argument("<text>", "the prompt; - reads standard input, unchanged. A command's own input is what `steer` sends")
    .option("--no-wait", "return as soon as it is accepted")
    .option("--timeout <duration>", "stop waiting then; the turn goes on")
    .option("--exit-code", "pass a shell command's own status on; our errors become 125")
    .option("--output <form>", "text (default), final or json");
  examples(
    command,
    "agent prompt build 'make test'",
    "agent prompt build - < script.sh",
    "agent prompt build --exit-code --timeout 10m 'pnpm test'",
    "agent prompt build -- '-x begins with a dash'",
  ).addHelpText("after", "\nCtrl-C detaches and the turn goes on; Ctrl-C again within 2 s cancels it.");
  invocation.handle<Options>(command, async (context, options, [given = "", argument = ""]) => {
    const session = context.select(given);
    refuseContradictions(options, context.options.json);
    const form = formOf(options.output ?? "text");
    const timeoutMs = options.timeout === undefined ? null : parseDuration(options.timeout, "--timeout");
    const text = await promptText(argument, context.io);
    const requestId = await context.mutationId();
    if (options.wait) {
      const { runPrompt } = await import("../run-prompt.ts");
      const passStatus = options.exitCode ?? false;
      const statusHint = "--exit-code passes the status on";
      return await runPrompt(context, { session, text, requestId, form, passStatus, statusHint, timeoutMs });
    }
    const accepted = await submitAlone(context, { method: "session/prompt", params: { session, text, requestId } });
    await context.answer(accepted, () => `accepted: ${accepted.actionId}`);
    return 0;
  });
}

function formOf(name: string): AnswerForm {
  const form = answerForms.find((known) => known === name);
  if (form) return form;
  throw usage(`--output: not one of ${answerForms.join(", ")}: ${JSON.stringify(name)}`, "--output final");
}

/** What could only be ignored is refused. */
function refuseContradictions({ wait, timeout, exitCode, output }: Options, json: boolean): void {
  const waiting = { "--timeout": timeout !== undefined, "--exit-code": exitCode, "--output": output !== undefined };
  const [needless] = Object.entries(waiting).flatMap(([option, isGiven]) => (isGiven ? [option] : []));
  if (!wait && needless !== undefined)
    throw usage(`--no-wait and ${needless} exclude each other`, `${needless} is about a turn that is waited for`);
  if (json && (output === "text" || output === "final"))
    throw usage(`--json and --output ${output} exclude each other`, "--json alone prints one event a line");
}
