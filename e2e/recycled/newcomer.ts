import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  everyProcess,
  type Identity,
  identityOf,
  isFrozen,
  isRunning,
  sessionNumber,
  signal,
} from "../support/processes.ts";
import { waitFor } from "../support/wait-for.ts";
import { takeNumbers, type Wanted } from "./numbers.ts";
import type { Disguise } from "./plan.ts";

/** Whose number it was. */
export type Role = "supervisor" | "worker" | "agent";

/** What all newcomers of one home need to know. */
export interface Surroundings {
  /** Where innocent.sh and log-signals.cjs lie. */
  readonly fixtures: string;
  /** Where the programs lie that the look-alikes are started from. */
  readonly bundles: string;
  readonly logs: string;
  readonly home: string;
}

/** Whose number another gets, and what that one looks like. */
interface Predecessor {
  readonly number: number;
  readonly role: Role;
  readonly disguise: Disguise;
  /** Value of `HOLDFAST_SESSION` in the process whose number it was; of an agent alone. */
  readonly marker?: string;
}

interface Part {
  readonly name: string;
  readonly identity: Identity;
  readonly log: string;
  /** How often it was asked whether it logs. */
  asked: number;
}

/** Nobody sends it unasked (SIGURG); a part that has logged it has logged what came before. */
const QUESTION = 23;
let logCount = 0;

/** An innocent process that got the number of one of ours, and a member of its group. */
export class Newcomer {
  readonly role: Role;
  readonly number: number;
  readonly #parts: readonly Part[];
  /** Kept, since a look-alike ends when the gate that it waits at is closed. */
  readonly #child: ChildProcess;

  constructor({ role, number }: Predecessor, child: ChildProcess, parts: readonly Part[]) {
    this.role = role;
    this.number = number;
    this.#child = child;
    this.#parts = parts;
  }

  static async take(surroundings: Surroundings, ...predecessors: readonly Predecessor[]): Promise<Newcomer[]> {
    const wanted = predecessors.map((predecessor) => {
      const log = join(surroundings.logs, String((logCount += 1)));
      return { predecessor, log, number: predecessor.number, ...programFor(surroundings, predecessor, log) };
    });
    const taken = await takeNumbers(wanted);
    return await Promise.all(
      taken.map(async ({ predecessor, log, child }) => {
        return new Newcomer(predecessor, child, await partsOf(predecessor, log));
      }),
    );
  }

  /** In which tick it started: the whole identity that a record can hold where there is no pidfd. */
  get startTicks(): string {
    return this.#parts[0]?.identity.startTicks ?? "";
  }

  /** What it and its group were sent, or what became of them; empty when nobody touched them. */
  async touched(): Promise<string[]> {
    const told = await Promise.all(this.#parts.map(async (part) => await whatWasDoneTo(part)));
    return told.flat().map((text) => `number of the ${this.role} (${this.number}): ${text}`);
  }

  async end(): Promise<void> {
    const left = (): Identity[] => everyProcess().filter(({ pid }) => sessionNumber(pid) === this.number);
    for (const identity of left()) signal(identity, "SIGKILL");
    this.#child.stdio[3]?.destroy();
    await waitFor(() => left().length === 0, `the session ${this.number} is empty`);
  }
}

async function partsOf({ number, disguise }: Predecessor, log: string): Promise<Part[]> {
  const isLeaving = disguise === "group alone";
  const logs = { ...(isLeaving ? {} : { leader: log }), member: `${log}.member` };
  const parts = await Promise.all(
    Object.entries(logs).map(async ([name, path]) => ({ name, identity: await ready(path), log: path, asked: 0 })),
  );
  const numbers = parts.map(({ identity }) => sessionNumber(identity.pid));
  if (numbers.some((other) => other !== number)) throw new Error(`${numbers.join()} instead of ${number}`);
  if (isLeaving) await waitFor(() => identityOf(number) === null, "the leader of the group has left");
  return parts;
}

type Program = Pick<Wanted, "command" | "env">;

function programFor(
  { fixtures, bundles, home }: Surroundings,
  { role, disguise, marker }: Predecessor,
  log: string,
): Program {
  const PATH = process.env["PATH"] ?? "";
  const isAlike = disguise === "look-alike";
  if (isAlike && role !== "agent") {
    // The very program, of the same home, at a gate that nobody opens: a launch that no record names.
    const own = role === "supervisor" ? { INNOCENT_TITLE: "holdfastd" } : { HOLDFAST_GENERATION: randomUUID() };
    return {
      command: [process.execPath, "--require", join(fixtures, "log-signals.cjs"), join(bundles, `${role}.js`)],
      env: { PATH, HOLDFAST_HOME: home, INNOCENT_LOG: log, ...own },
    };
  }
  const script = [join(fixtures, "innocent.sh"), log, disguise === "group alone" ? "leaving" : "leader"];
  // An agent is a shell as well; what a look-alike carries begins with the agent's marker.
  const env = { PATH, ...(isAlike ? { HOLDFAST_SESSION: `${marker}x` } : {}) };
  return { command: ["bash", "--noprofile", "--norc", ...script], env };
}

const linesOf = (path: string): string[] =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];

async function ready(log: string): Promise<Identity> {
  const pid = await waitFor(() => /^ready (\d+)$/.exec(linesOf(log)[0] ?? "")?.[1], `${log} says ready`);
  const identity = identityOf(Number(pid));
  if (!identity) throw new Error(`${log}: ended at once`);
  return identity;
}

async function whatWasDoneTo(part: Part): Promise<string[]> {
  const { name, identity, log } = part;
  const caught = (): string[] =>
    linesOf(log)
      .slice(1)
      .map((line) => (/^\d+$/.test(line) ? `signal ${line}` : line));
  const said = (): string[] => caught().map((what) => `${name}: ${what}`);
  if (!isRunning(identity)) return [...said(), `${name}: ended`];
  if (isFrozen(identity)) return [...said(), `${name}: frozen`];
  part.asked += 1;
  signal(identity, "SIGURG");
  const question = `signal ${QUESTION}`;
  const answers = (): number => caught().filter((what) => what === question).length;
  await waitFor(() => answers() === part.asked, `${log} answers`);
  return said().filter((what) => what !== `${name}: ${question}`);
}
