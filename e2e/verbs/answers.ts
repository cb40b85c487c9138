import { type SessionRow, errorLines } from "../support/rows.ts";
import type { Result } from "../support/command.ts";
import type { Verb } from "./table.ts";

/** What the sessions' first prompts print. */
export const SEEN = "printed before";

export interface Target {
  readonly session: SessionRow;
  /** Where prompts leave a line when they run. */
  readonly runsPath: string;
}

/** The parts of an answer that the table speaks of. */
export interface Answer {
  readonly state?: string;
  readonly name?: string | null;
  readonly status?: string | undefined;
  readonly matched?: unknown;
  readonly seen?: boolean;
  readonly sessionId?: string;
}

export interface Outcome {
  readonly exit: number | null;
  /** Of each error line; the contract has one at most. */
  readonly codes: readonly string[];
  readonly answer: Answer;
}

export const isSubmission = (verb: Verb): boolean => ["prompt", "follow-up", "steer"].includes(verb);
export const isText = (verb: Verb): boolean => ["attach", "transcript", "logs"].includes(verb);

/** `archived` is a lifecycle, beside the state `stopped`. */
export const labelOf = ({ lifecycle, state }: Pick<SessionRow, "lifecycle" | "state">): string =>
  lifecycle === "archived" && state === "stopped" ? "archived" : state;

export const newName = ({ sessionId }: SessionRow): string => `renamed-${sessionId.slice(-12)}`;

const options: Partial<Record<Verb, (target: Target) => readonly string[]>> = {
  delete: () => ["--yes"],
  rename: ({ session }) => [newName(session)],
  set: () => ["mode=plan"],
  attach: () => ["--no-follow"],
  wait: () => ["--for", "stopped", "--timeout", "10ms"],
};

/** The command line of a verb; of those that take a prompt, one that shows how often it ran. */
export function commandLine(verb: Verb, target: Target): string[] {
  const { sessionId } = target.session;
  const text = isSubmission(verb) ? [`echo ${verb} >> ${target.runsPath}`, "--no-wait"] : [];
  return ["session", verb, sessionId, ...text, ...(options[verb]?.(target) ?? []), "--json"];
}

const fields: Partial<Record<Verb, (answer: SessionRow) => Answer>> = {
  wait: (answer) => ({ matched: "matched" in answer && answer.matched }),
  delete: ({ sessionId }) => ({ sessionId }),
  rename: (row) => ({ state: labelOf(row), name: row.name }),
};

export function outcomeOf(verb: Verb, { code: exit, stdout, stderr }: Result): Outcome {
  const codes = errorLines(stderr).map(({ code }) => code);
  return { exit, codes, answer: exit === 0 ? answerOf(verb, stdout) : {} };
}

function answerOf(verb: Verb, stdout: string): Answer {
  if (isText(verb)) return { seen: stdout.includes(SEEN) };
  const answer: SessionRow & { readonly status?: string } = JSON.parse(stdout);
  if (isSubmission(verb)) return { status: answer.status };
  return fields[verb]?.(answer) ?? { state: labelOf(answer) };
}
