import type { Home } from "../support/home.ts";
import type { SessionRow } from "../support/rows.ts";
import { SEEN } from "./answers.ts";

/** Sessions side by side; the first has a first turn to look at. */
export async function openSessions<N extends string>(
  home: Home,
  names: readonly N[],
  ...more: string[]
): Promise<Record<N, SessionRow>> {
  const opening = names.map(async (name, index) =>
    home.newSession(name, ...more, ...(index === 0 ? ["--prompt", `echo ${SEEN}`] : [])),
  );
  return sessionsByName(await Promise.all(opening), names);
}

export function sessionsByName<N extends string>(
  rows: readonly SessionRow[],
  names: readonly N[],
): Record<N, SessionRow> {
  const found = names.map((name) => [name, rows.find((row) => row.name === name)] as const);
  const missing = found.filter(([, row]) => row === undefined);
  if (missing.length > 0) throw new Error(`no session ${missing.map(([name]) => name).join(", ")}`);
  // The keys are the names, and each has its row.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(found) as Record<N, SessionRow>;
}

/** Whether a worker runs for any of the home's sessions, or waits to. */
export const hasWorkers = (home: Home): boolean =>
  home.processes().some(({ command }) => command.includes("worker.js"));
