import type { Command } from "commander";
import { assertions, problemKinds } from "@holdfast/client/protocol";
import { examples } from "../help.ts";
import type { Invocation } from "../invocation.ts";

interface Options {
  readonly repair?: boolean;
  readonly yes?: boolean;
  readonly assertGone?: readonly string[];
  readonly acceptLoss?: readonly string[];
}

const collect = (value: string, all: readonly string[] = []): readonly string[] => [...all, value];

export function addDoctor(command: Command, invocation: Invocation): void {
  const { gone, loss } = assertions;
  examples(
    command,
    "agent doctor                                what is wrong here, why, and what a repair would do",
    "agent doctor --repair                       asks about each repair; without an answer nothing is done",
    "agent doctor --repair --yes --json          the repairs that take nobody's word, without a question",
    "agent doctor --repair --assert-gone ID      take for gone what cannot be observed: your assertion",
    "agent doctor --repair --accept-loss ID      put aside what cannot be understood: your decision",
  );
  command
    .description(
      "what is quarantined, damaged, degraded, retained or in doubt in this home; changes nothing unless told",
    )
    .option("--repair", "ask about each repair, and do those that are agreed to")
    .option("--yes", "with --repair: agree to every repair that takes no assertion")
    .option(`${gone.option} <subject>`, `with --repair: you assert ${gone.text}; repeatable`, collect)
    .option(`${loss.option} <subject>`, `with --repair: you accept ${loss.text}; repeatable`, collect)
    .addHelpText("after", kindsText);
  invocation.handle<Options>(command, async (context, { repair = false, yes = false, assertGone, acceptLoss }) => {
    const { runDoctor } = await import("../run-doctor.ts");
    return await runDoctor(context, { repair, yes, asserted: { gone: assertGone ?? [], loss: acceptLoss ?? [] } });
  });
}

function kindsText(): string {
  const width = Math.max(...Object.keys(problemKinds).map((kind) => kind.length));
  return `\nProblems:\n${Object.entries(problemKinds)
    .map(([kind, text]) => `  ${kind.padEnd(width)}  ${text}`)
    .join("\n")}`;
}
