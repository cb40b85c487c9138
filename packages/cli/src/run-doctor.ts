import { ProtocolError, assertions } from "@holdfast/client/protocol";
import type { Assertion, Problem } from "@holdfast/client/protocol";
import type { Action, Finding } from "@holdfast/daemon-supervisor/offline";
import { reasonOf } from "@holdfast/shared-process";
import { confirmed } from "./confirm.ts";
import type { Context } from "./context.ts";
import { doctorText } from "./doctor-text.ts";
import { usage } from "./usage.ts";

export interface DoctorOptions {
  readonly repair: boolean;
  readonly yes: boolean;
  /** Subjects, by what a person asserts of them. */
  readonly asserted: Readonly<Record<Assertion, readonly string[]>>;
}

/** What became of the repairs, one entry each. */
export interface Repairs {
  readonly repaired: (Pick<Problem, "kind" | "subject"> & { readonly done: string })[];
  readonly kept: (Pick<Problem, "kind" | "subject"> & { readonly reason: string })[];
  readonly failed: (Pick<Problem, "kind" | "subject"> & { readonly reason: string })[];
}

const UNTOUCHED = "nothing more was touched";

/** Looks, tells, and with `--repair` does what is agreed to. Gives the exit status. */
export async function runDoctor(context: Context, options: DoctorOptions): Promise<number> {
  const { repair, yes, asserted } = options;
  if (!repair && (yes || asserted.gone.length > 0 || asserted.loss.length > 0))
    throw usage(
      `--yes, ${assertions.gone.option} and ${assertions.loss.option} belong to --repair`,
      "agent doctor --repair",
    );
  const { examine } = await import("@holdfast/daemon-supervisor/offline");
  const findings = await examine(context.options.home);
  const problems = findings.map(({ problem }) => problem);
  if (!repair) {
    await context.answer({ problems }, () => context.typed(doctorText(problems, context.io)));
    return 0;
  }
  const repairable = findings.filter(({ action }) => action !== null);
  checkWords(repairable, asserted);
  await refuseUnasked(context, repairable, options);
  const repairs: Repairs = { repaired: [], kept: [], failed: [] };
  for (const finding of repairable) await handle(context, finding, { options, repairs });
  const told = problems.filter((_problem, at) => findings[at]?.action === null);
  await context.answer({ problems, ...repairs }, () => context.typed(doctorText(told, context.io, repairs)));
  return repairs.failed.length > 0 ? 1 : 0;
}

/** An assertion about something else than was found is a mistake, and is not passed over. */
function checkWords(repairable: readonly Finding[], asserted: DoctorOptions["asserted"]): void {
  for (const words of ["gone", "loss"] as const) {
    const known = repairable
      .filter(({ problem }) => problem.needs?.includes(words))
      .map(({ problem }) => problem.subject);
    const unknown = asserted[words].find((subject) => !known.includes(subject));
    if (unknown === undefined) continue;
    throw usage(`${assertions[words].option} ${unknown}: no repair of that takes this assertion`, "agent doctor");
  }
}

/** Where nobody can be asked, only what was said beforehand counts. */
async function refuseUnasked(
  { io }: Context,
  repairable: readonly Finding[],
  { yes, asserted }: DoctorOptions,
): Promise<void> {
  const isTerminal = io.stdin.isTTY && io.stderr.isTTY;
  const isSaid = yes || asserted.gone.length > 0 || asserted.loss.length > 0;
  if (isTerminal || isSaid || repairable.length === 0) return;
  const [first] = repairable;
  const words = (first?.problem.needs ?? []).map(
    (word) => ` ${assertions[word].option} ${first?.problem.subject ?? ""}`,
  );
  throw new ProtocolError("confirmation_required", "nothing was touched: there is nobody to ask", {
    hint: `agent doctor --repair${words.length === 0 ? " --yes" : words.join("")}`,
  });
}

interface Course {
  readonly options: DoctorOptions;
  readonly repairs: Repairs;
}

async function handle(context: Context, finding: Finding, { options, repairs }: Course): Promise<void> {
  const { kind, subject } = finding.problem;
  const missing = await missingConsent(context, finding.problem, options);
  if (missing !== null) {
    repairs.kept.push({ kind, subject, reason: missing });
    return;
  }
  try {
    await context.notice(`repairing ${kind}: ${subject}`);
    repairs.repaired.push({ kind, subject, done: await carryOut(context, finding) });
  } catch (error) {
    // One repair that fails does not keep the others.
    repairs.failed.push({ kind, subject, reason: reasonOf(error) });
  }
}

/** `null`: a person agreed. `--yes` stands for no assertion. */
async function missingConsent(
  context: Context,
  problem: Problem,
  { yes, asserted }: DoctorOptions,
): Promise<string | null> {
  const { kind, subject, reason, repair = "", needs = [] } = problem;
  const unsaid = needs.filter((words) => !asserted[words].includes(subject));
  if (needs.length === 0 ? yes : unsaid.length === 0) return null;
  const oath = unsaid.map((words) => assertions[words].text).join(", and ");
  const question = oath === "" ? "do it? [y/N] " : `do you assert ${oath}? [y/N] `;
  const isTerminal = context.io.stdin.isTTY && context.io.stderr.isTTY;
  if (isTerminal) await context.say(`${kind}: ${subject}\n  ${reason}\n  ${repair}`);
  if (await confirmed(context, question, UNTOUCHED)) return null;
  if (isTerminal) return "not agreed to";
  return unsaid.length === 0
    ? "not agreed to"
    : `takes ${unsaid.map((words) => assertions[words].option).join(" and ")} ${subject}`;
}

async function carryOut(context: Context, { problem, action }: Finding): Promise<string> {
  if (action === null) return "";
  if (action.by === "command") {
    const { repairHere } = await import("@holdfast/daemon-supervisor/offline");
    return await repairHere(context.options.home, action);
  }
  return await askDaemon(context, problem, action);
}

/** The records are the daemon's: where none runs one is started, as for any mutation. */
async function askDaemon(
  context: Context,
  { needs = [] }: Problem,
  action: Extract<Action, { by: "daemon" }>,
): Promise<string> {
  const { repair, subject } = action;
  const client = await context.client();
  const requestId = await context.mutationId(`${repair}.${subject.length > 64 ? "home" : subject}`);
  const asserted = needs.includes("gone");
  const { done } = await client.call("doctor/repair", { requestId, repair, subject, asserted });
  return done;
}
