import { dirname } from "node:path";
import { openPaths, placeOf } from "@holdfast/shared-process";
import type { FoundProcess, Place } from "@holdfast/shared-process";
import { GENERATION_NAME, HOME_NAME } from "./names.ts";

const GENERATION = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Its environment says that it is a worker; whether it is one, records and what it holds have to say. */
export const isWorker = ({ values }: FoundProcess): boolean =>
  values[HOME_NAME] !== undefined && GENERATION.test(values[GENERATION_NAME] ?? "");

/** What a process holds as a worker does: its generation's lifeline, and a file of its errors that is named after its session. */
export interface Held {
  /** Where that lies; `null`: it holds nothing of the kind, or what it holds is not to be seen. */
  readonly place: Place | null;
  /** It has no name any more: on some file systems nothing tells then where it was. */
  readonly isRemoved: boolean;
  /**
   * The home here whose `run/` has its lifeline: it goes along when its home is moved, and stays when that is copied. `null`: it holds
   * none of that name, or its home is gone.
   */
  readonly home: string | null;
  /** `null`: nothing that it holds says which. */
  readonly sessionId: string | null;
}

const NOTHING: Held = { place: null, isRemoved: false, home: null, sessionId: null };
const ERRORS = /\/logs\/worker-([0-9a-f-]{36})\.err(?: \(deleted\))?$/;

export function heldBy(pid: number, lifeline: string): Held {
  const open = openPaths(pid);
  if (open.kind === "unreadable") return NOTHING;
  const named = open.open.find(({ path }) => path.endsWith(`/run/${lifeline}`));
  const errors = open.open.find(({ path }) => ERRORS.test(path));
  const held = named ?? open.open.find(({ path }) => path.endsWith(`/run/${lifeline} (deleted)`)) ?? errors;
  if (held === undefined) return NOTHING;
  const place = placeOf(pid, held);
  const home = named !== undefined && place === "here" ? dirname(dirname(named.path)) : null;
  const isRemoved = held.path.endsWith(" (deleted)");
  return { place, isRemoved, home, sessionId: ERRORS.exec(errors?.path ?? "")?.[1] ?? null };
}

export const heldByWorker = ({ identity, values }: FoundProcess): Held =>
  heldBy(identity.pid, lifelineName(values[GENERATION_NAME] ?? ""));

export const lifelineName = (generation: string): string => `${generation.slice(0, 13)}.alive`;
