import type { OwnerRecord } from "@holdfast/client/protocol";
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { probeLifeline, scanMarked } from "@holdfast/shared-process";
import type { ProcessObserver } from "@holdfast/shared-process";
import { SUPERVISOR_TITLE, verdictOf } from "@holdfast/session-worker/transport";
import type { TopOwner } from "@holdfast/session-worker/transport";
import { ownLifeline } from "../home.ts";
import { HOME_NAME } from "../names.ts";

export type OwnerState =
  | { readonly kind: "none" }
  /** Nobody owns the home: its last owner left or is proven gone. */
  | { readonly kind: "free"; readonly why: "stopped" | "gone" }
  | { readonly kind: "alive"; readonly record: OwnerRecord }
  /** Cannot be told: never replaced (I134). */
  | { readonly kind: "unknown"; readonly why: string; readonly isElsewhere?: true };

/** Whether a home can be claimed. A silent owner is alive; only proof of its end frees the home (I132, I138). */
export function judgeOwner(observer: ProcessObserver, home: string, top: TopOwner): OwnerState {
  if (top.kind === "none") return judgeWithoutRecord(home);
  if (top.kind === "unreadable") return judgeByScan(home);
  if (top.kind === "refused") return { kind: "unknown", why: `its owner record cannot be read: ${top.errno}` };
  const record = whereItIs(home, top.record);
  if (record.phase === "stopped") return { kind: "free", why: "stopped" };
  const verdict = verdictOf(observer, record);
  switch (verdict.kind) {
    case "current":
      return { kind: "alive", record };
    case "gone":
    case "replaced":
      return { kind: "free", why: "gone" };
    case "unknown":
      return verdict.why === "other-host" ? elsewhere(record) : { kind: "unknown", why: notObserved(verdict.why) };
  }
}

/** Its lifeline goes along with a home that is moved; at the recorded path may be a copy by then, which nobody ever held. */
function whereItIs(home: string, record: OwnerRecord): OwnerRecord {
  const { lifelinePath } = record;
  const own = lifelinePath === null ? null : ownLifeline(home, lifelinePath);
  return own !== null && probeLifeline(own) === "held" ? { ...record, lifelinePath: own } : record;
}

const notObserved = (why: string): string => `its owner cannot be observed: ${why}`;

/** Nothing here proves what became of a process of another machine: nothing of the home is acted upon (I163). */
function elsewhere({ epoch, identity }: OwnerRecord): OwnerState {
  const owner = `a daemon on another machine (epoch ${epoch}, process ${identity.pid} there)`;
  const why = `it belongs to ${owner}: end that one there, or see agent doctor where that machine is no more`;
  return { kind: "unknown", why, isElsewhere: true };
}

/** Every owner holds a lifeline of this form for life; those of the gone are held by nobody. */
function ownerLifelines(home: string): string[] {
  const folder = `${home}/run`;
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^owner-.*\.alive$/.test(name))
    .map((name) => `${folder}/${name}`);
}

/** In a copy that was made of hard links it is the original's, whose owner holds it. */
const heldLifeline = (home: string): string | undefined =>
  ownerLifelines(home).find((path) => probeLifeline(path) === "held" && lstatSync(path).nlink === 1);

/** Somebody may have removed the record of an owner that lives, and writes it again once it finds that out (I146). */
function judgeWithoutRecord(home: string): OwnerState {
  const held = heldLifeline(home);
  return held === undefined
    ? { kind: "none" }
    : { kind: "unknown", why: `there is no owner record and ${held} is held by a process` };
}

/** The record cannot be read: only a complete scan that finds no process of this home proves that there is no owner. */
function judgeByScan(home: string): OwnerState {
  const held = heldLifeline(home);
  if (held !== undefined)
    return { kind: "unknown", why: `the owner record is damaged and ${held} is held by a process` };
  const scan = scanMarked({ name: HOME_NAME, value: home });
  if (scan.kind === "incomplete")
    return { kind: "unknown", why: "the owner record is damaged and processes cannot be listed" };
  const supervisors = scan.processes.filter(({ command }) => command === SUPERVISOR_TITLE);
  return supervisors.length === 0
    ? { kind: "free", why: "gone" }
    : {
        kind: "unknown",
        why: `the owner record is damaged and process ${supervisors[0]?.identity.pid} may be the owner`,
      };
}
