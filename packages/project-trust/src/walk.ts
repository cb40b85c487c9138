import { errnoOf, reasonOf } from "@holdfast/shared-process";
import { constants } from "node:fs";
import type { DirectoryCalls, Seen } from "./calls.ts";
import { componentsOf } from "./canonical.ts";
import { AS_DIRECTORY, below, closeDescriptor, O_PATH } from "./descriptors.ts";
import { type Denied, denied, type WalkReason } from "./reasons.ts";
import { spellingOf } from "./spelling.ts";

/** A directory that is open as a place (`O_PATH`); whoever gets it closes it. */
export interface Reached {
  readonly kind: "reached";
  readonly descriptor: number;
  readonly seen: Seen;
}

/**
 * Opens a directory by its canonical path from `/` on, each component in the descriptor of the one before: no link is
 * followed in any of them, and whatever is renamed or swapped meanwhile, what is reached was there by that way.
 */
export function walkTo(calls: DirectoryCalls, directory: string): Reached | Denied {
  let at = openRoot(calls);
  let path = "";
  for (const name of componentsOf(directory)) {
    if (at.kind === "denied") return at;
    path += `/${name}`;
    const parent = at.descriptor;
    at = stepExactly(calls, parent, { name, path });
    closeDescriptor(calls, parent);
  }
  return at;
}

function openRoot(calls: DirectoryCalls): Reached | Denied {
  try {
    return looked(calls, calls.open("/", AS_DIRECTORY));
  } catch (error) {
    return denied("unreadable", `/: ${reasonOf(error)}`);
  }
}

interface Step {
  readonly name: string;
  /** What it is called in a message. */
  readonly path: string;
}

function stepExactly(calls: DirectoryCalls, parent: number, step: Step): Reached | Denied {
  const reached = stepInto(calls, parent, step);
  if (reached.kind === "denied") return reached;
  try {
    if (spellingOf(calls, parent, { name: step.name, seen: reached.seen }) === "exact") return reached;
    closeDescriptor(calls, reached.descriptor);
    return denied("alias", `${step.path} is another spelling of a name`);
  } catch (error) {
    closeDescriptor(calls, reached.descriptor);
    return denied("unreadable", `${step.path}: ${reasonOf(error)}`);
  }
}

/** One component further, no link followed; what is there must be a directory. */
export function stepInto(calls: DirectoryCalls, parent: number, { name, path }: Step): Reached | Denied {
  const place = below(parent, name);
  try {
    return looked(calls, calls.open(place, AS_DIRECTORY | constants.O_NOFOLLOW));
  } catch (error) {
    const reason = reasonFor(calls, place, errnoOf(error));
    return denied(reason, detailOf(reason, path, error));
  }
}

/** Anything that has this name, opened as a place; a link as itself. Throws the system's errors. */
export const openPlace = (calls: DirectoryCalls, parent: number, name: string): Reached =>
  looked(calls, calls.open(below(parent, name), O_PATH | constants.O_NOFOLLOW));

function looked(calls: DirectoryCalls, descriptor: number): Reached {
  try {
    return { kind: "reached", descriptor, seen: calls.fstat(descriptor) };
  } catch (error) {
    closeDescriptor(calls, descriptor);
    throw error;
  }
}

function reasonFor(calls: DirectoryCalls, place: string, errno: string | null): WalkReason {
  // Without /proc nothing is found by way of a descriptor, and nothing is proven to be missing.
  if (errno === "ENOENT") return calls.hasProc() ? "missing" : "unsupported_platform";
  if (errno !== "ENOTDIR" && errno !== "ELOOP") return "unreadable";
  try {
    const there = calls.lstat(place);
    if (there === null) return "missing";
    return there.kind === "symlink" ? "symlink" : "not_a_directory";
  } catch {
    // It was no directory a moment ago, whatever it is now.
    return "not_a_directory";
  }
}

function detailOf(reason: WalkReason, path: string, error: unknown): string {
  if (reason === "symlink") return `${path} is a symbolic link`;
  if (reason === "missing") return `${path} is not there`;
  if (reason === "not_a_directory") return `${path} is not a directory`;
  return reason === "unsupported_platform" ? NO_PROC : `${path}: ${reasonOf(error)}`;
}

export const NO_PROC = "there is no /proc, without which a directory cannot be opened inside of another";
