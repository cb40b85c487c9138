import { isPid } from "./observe/observe.ts";
import type { Host, ProcessIdentity, Verdict } from "./types.ts";

type Elsewhere = Extract<Verdict, { kind: "gone" | "unknown" }>;

const NO_COMMON_FIELD = { kind: "unknown", why: "no-common-field" } as const;
export const NO_IDENTITY = { kind: "unknown", why: "unparsable" } as const;

/**
 * Whether a value, from a file perhaps, is an identity: every field there, each of its form. A field that is missing altogether
 * is damage, and must not be compared as if the process had none.
 */
export function isProcessIdentity(value: unknown): value is ProcessIdentity {
  if (typeof value !== "object" || value === null) return false;
  const fields: Partial<Record<keyof ProcessIdentity, unknown>> = value;
  return (
    isPid(fields.pid) &&
    isTextOrNull(fields.machineId) &&
    isTextOrNull(fields.bootId) &&
    isTextOrNull(fields.pidNamespace) &&
    isTextOrNull(fields.timeNamespace) &&
    isDigitsOrNull(fields.startTicks) &&
    isDigitsOrNull(fields.pidfsInode)
  );
}

const isTextOrNull = (value: unknown): boolean => value === null || (typeof value === "string" && value !== "");
const isDigitsOrNull = (value: unknown): boolean => value === null || (typeof value === "string" && DIGITS.test(value));
const DIGITS = /^\d+$/;

/**
 * Says whether `observed`, what now has the recorded number, is the recorded process. The strongest field both have
 * decides; a field that
 * one side lacks decides nothing, and is never a difference (I15, I99). Whether an equal process still runs is the
 * observer's to add.
 */
export function compareIdentities(recorded: ProcessIdentity, observed: ProcessIdentity): Verdict {
  if (!isProcessIdentity(recorded) || !isProcessIdentity(observed)) return NO_IDENTITY;
  const elsewhere = compareBoots(recorded, observed);
  if (elsewhere !== null) return elsewhere;
  const kernelIds = compareFields(recorded.pidfsInode, observed.pidfsInode);
  // The kernel's own id is unique in one boot whatever the namespaces are.
  if (kernelIds === "equal") return { kind: "current", basis: "kernel-id" };
  const elsewherePid = comparePidNamespaces(recorded, observed);
  if (elsewherePid !== null) return elsewherePid;
  if (recorded.pid !== observed.pid) return NO_COMMON_FIELD;
  if (kernelIds === "different") return { kind: "replaced", by: "process" };
  const elsewhen = compareTimeNamespaces(recorded, observed);
  if (elsewhen !== null) return elsewhen;
  const starts = compareFields(recorded.startTicks, observed.startTicks);
  if (starts === "missing") return NO_COMMON_FIELD;
  return starts === "equal" ? { kind: "current", basis: "start-time" } : { kind: "replaced", by: "process" };
}

/**
 * What the two hosts alone decide, before any process is looked at; `null` when a look can decide. Without the kernel's own
 * ids the time namespace must be the same as well.
 */
export function compareHosts(recorded: ProcessIdentity, host: Host, withKernelIds: boolean): Elsewhere | null {
  if (!isProcessIdentity(recorded)) return NO_IDENTITY;
  const elsewhere = compareBoots(recorded, host) ?? comparePidNamespaces(recorded, host);
  if (elsewhere !== null) return elsewhere;
  return withKernelIds && recorded.pidfsInode !== null ? null : compareTimeNamespaces(recorded, host);
}

function compareBoots(recorded: Host, observed: Host): Elsewhere | null {
  const machines = compareFields(recorded.machineId, observed.machineId);
  if (machines === "different") return { kind: "unknown", why: "other-host" };
  const boots = compareFields(recorded.bootId, observed.bootId);
  if (boots === "equal") return null;
  if (boots === "missing") return { kind: "unknown", why: "boot-unreadable" };
  // Without machine ids, another boot may as well be another machine, where the process lives on.
  return machines === "equal" ? { kind: "gone", why: "previous-boot" } : { kind: "unknown", why: "other-host" };
}

function comparePidNamespaces(recorded: Host, observed: Host): Elsewhere | null {
  const found = compareFields(recorded.pidNamespace, observed.pidNamespace);
  if (found === "equal") return null;
  return found === "different" ? { kind: "unknown", why: "other-pid-namespace" } : NO_COMMON_FIELD;
}

function compareTimeNamespaces(recorded: Host, observed: Host): Elsewhere | null {
  const found = compareFields(recorded.timeNamespace, observed.timeNamespace);
  if (found === "equal") return null;
  return found === "different" ? { kind: "unknown", why: "other-time-namespace" } : NO_COMMON_FIELD;
}

function compareFields(recorded: string | null, observed: string | null): "equal" | "different" | "missing" {
  if (recorded === null || observed === null) return "missing";
  return recorded === observed ? "equal" : "different";
}

/** Field by field: the spread of an object takes microseconds of a verdict. */
export function identityOf(host: Host, own: Omit<ProcessIdentity, keyof Host>): ProcessIdentity {
  return {
    machineId: host.machineId,
    bootId: host.bootId,
    pid: own.pid,
    pidNamespace: host.pidNamespace,
    timeNamespace: host.timeNamespace,
    startTicks: own.startTicks,
    pidfsInode: own.pidfsInode,
  };
}

/**
 * A stable text of an identity for people and logs, and a key of sets of them; no locale and no clock is in it (I99, I158). Its tag
 * names by what the process is told apart: `ticks`, in the unit of `startTicks`, or `kernel-id` where there are none. A kernel's id
 * beside ticks is left out: a scan reads none, and its texts must equal those of records.
 */
export function startIdOf({ bootId, pid, startTicks, pidfsInode }: ProcessIdentity): string {
  const [tag, value] = startTicks === null && pidfsInode !== null ? ["kernel-id", pidfsInode] : ["ticks", startTicks];
  return `${tag}:${bootId ?? "-"}:${pid}:${value ?? "-"}`;
}
