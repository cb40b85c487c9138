import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { inPrivateNamespace } from "../support/private-namespace.ts";
import { allRounds, type Case, type Outcome, type PlanPart, titleOf } from "./plan.ts";

const program = new URL("program.ts", import.meta.url);
const fixtures = fileURLToPath(new URL(".", import.meta.url));
/** Of one part, on a machine with much else to do; alone on two processors it takes a tenth of that. */
const TIMEOUT_MS = 240_000;

/** Each part has a namespace of its own. They run one after another in two rows that take as long, since much of a stop is waiting. */
const rows: readonly (readonly PlanPart[])[] = [
  ["dead", "live"],
  ["deadHome", "leftover", "midway"],
];

/** Runs the plan with this program `agent`, and judges each of its cases. */
export function proveUntouched(agent: string): void {
  const outcomes = new Map<string, Outcome>();
  const failures = new Map<PlanPart, unknown>();
  beforeAll(async () => {
    await Promise.all(
      rows.map(async (parts) => {
        for (const part of parts) {
          // Of one that fails the cases fail; the others are judged all the same.
          const told = await outcomesOf(agent, part).catch((error: unknown) => void failures.set(part, error));
          for (const outcome of told ?? []) outcomes.set(outcome.title, outcome);
        }
      }),
    );
  }, TIMEOUT_MS * 2);

  describe.each(allRounds)("$part: I8 I9 I42 I80 I89 I131 I132 no verb touches a stranger", ({ part, cases }) => {
    it.each(cases.map((one) => ({ title: titleOf(one), one })))("$title", ({ title, one }) => {
      const outcome = outcomes.get(title);
      if (!outcome) throw new Error("it was not run to its end", { cause: failures.get(part) });
      expect(outcome.touched).toEqual([]);
      expect(outcome.numbers.length).toBeGreaterThan(0);
      expect(contradictions(one, outcome)).toEqual([]);
    });
  });
}

const outcomesOf = async (agent: string, part: PlanPart): Promise<readonly Outcome[]> =>
  await inPrivateNamespace<Outcome>({ program, args: [agent, fixtures, part], timeoutMs: TIMEOUT_MS });

interface Answer {
  readonly state?: string;
  readonly pid?: number | null;
  readonly stopped?: readonly { readonly pid: number | null }[];
  readonly failed?: readonly object[];
}

/** Where the command did not do what the contract says that it does when its processes are gone. */
function contradictions({ row, situation }: Case, { code, stdout, stderr, numbers }: Outcome): string[] {
  const said = `exit ${code}: ${stdout}${stderr}`;
  if (code === null || !row.codes.includes(code)) return [said];
  const isForced = row.verb === "ps" && row.args.includes("--yes");
  const answer: Answer = row.states || isForced ? JSON.parse(stdout) : {};
  const isStranger = (pid: number | null | undefined): boolean => typeof pid === "number" && numbers.includes(pid);
  // Those were ours when the plan was made.
  const wereOurs = situation === "a stop is under way";
  // A daemon that was frozen a moment ago may not have looked yet.
  const isUnaware = situation === "the daemon lives" && row.shares === true;
  return [
    ...(row.stdout === undefined || row.stdout === stdout ? [] : [`not ${row.stdout}: ${said}`]),
    ...(row.states && !row.states.includes(answer.state ?? "") ? [`state ${answer.state}`] : []),
    ...(isStranger(answer.pid) && !isUnaware ? [`a stranger, ${answer.pid}, is named as the worker`] : []),
    ...(answer.failed ?? []).map((failure) => `failed: ${JSON.stringify(failure)}`),
    ...(wereOurs ? [] : (answer.stopped ?? []).flatMap(({ pid }) => (isStranger(pid) ? [`stopped ${pid}`] : []))),
  ];
}
