import type { Problem } from "@holdfast/client/protocol";
import { assertions } from "@holdfast/client/protocol";
import type { Io } from "./io.ts";
import type { Repairs } from "./run-doctor.ts";
import { printable, styleOf, table } from "./table.ts";

/** A short table of what was found, with its reasons below each line, then what became of the repairs. */
export function doctorText(problems: readonly Problem[], io: Pick<Io, "stdout" | "env">, repairs?: Repairs): string {
  const style = styleOf(io.stdout, io.env);
  const found = problems.map((problem) => {
    const head = table(
      [problem],
      [
        { title: "KIND", text: ({ kind }) => kind },
        { title: "SUBJECT", text: ({ subject }) => subject },
      ],
      { ...style, columns: null },
    );
    return [head, `  why:    ${printable(problem.reason)}`, ...repairLines(problem)].join("\n");
  });
  const done = repairs
    ? [
        ...repairs.repaired.map(({ kind, subject, done: what }) => `repaired ${kind} ${subject}: ${what}`),
        ...repairs.kept.map(({ kind, subject, reason }) => `kept ${kind} ${subject}: ${reason}`),
        ...repairs.failed.map(({ kind, subject, reason }) => `failed ${kind} ${subject}: ${reason}`),
      ].map(printable)
    : [];
  const parts = [...found, ...done];
  return parts.length === 0 ? "no problems" : parts.join("\n");
}

function repairLines({ repair, needs, subject }: Problem): string[] {
  if (repair === undefined) return [];
  if (needs === undefined) return [`  next:   ${printable(repair)}`];
  const words = needs.map((word) => ` ${assertions[word].option} ${subject}`).join("");
  return [`  repair: ${printable(repair)}`, `          agent doctor --repair${printable(words)}`];
}
