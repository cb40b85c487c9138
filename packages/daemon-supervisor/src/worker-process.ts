import { dirname } from "node:path";
import { openPaths } from "@holdfast/shared-process";
import type { FoundProcess } from "@holdfast/shared-process";
import { GENERATION_NAME, HOME_NAME } from "./names.ts";

const GENERATION = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Its environment says that it is a worker; whether it is one, records and what it holds have to say. */
export const isWorker = ({ values }: FoundProcess): boolean =>
  values[HOME_NAME] !== undefined && GENERATION.test(values[GENERATION_NAME] ?? "");

/**
 * The home whose `run/` has a lifeline that a process holds, where that is now: it goes along when its home is moved, and stays when that
 * is copied. `null`: it holds none of that name, or its home is gone.
 */
export function heldHome(pid: number, lifeline: string): string | null {
  const open = openPaths(pid);
  const held = open.kind === "read" ? open.paths.find((path) => path.endsWith(`/run/${lifeline}`)) : undefined;
  return held === undefined ? null : dirname(dirname(held));
}

export const lifelineName = (generation: string): string => `${generation.slice(0, 13)}.alive`;

const ERRORS = /\/logs\/worker-([0-9a-f-]{36})\.err(?: \(deleted\))?$/;

/**
 * The session that a process holds the files of as its worker does; `null` if it holds none that says which; `undefined`: no worker. A
 * worker holds its generation's lifeline, and writes its errors to a file named after its session.
 */
export function heldSession({ identity, values }: FoundProcess): string | null | undefined {
  const open = openPaths(identity.pid);
  if (open.kind === "unreadable") return undefined;
  const lifeline = `/run/${lifelineName(values[GENERATION_NAME] ?? "")}`;
  const sessionId = open.paths.map((path) => ERRORS.exec(path)?.[1]).find((id) => id !== undefined);
  const isHeld = open.paths.some((path) => path.replace(/ \(deleted\)$/, "").endsWith(lifeline));
  return sessionId ?? (isHeld ? null : undefined);
}
