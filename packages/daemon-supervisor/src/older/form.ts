import {
  boolean,
  int,
  looseObject,
  maximum,
  nullable,
  number,
  optional,
  positive,
  regex,
  string,
  union,
  literal,
} from "zod/mini";
import type { infer as Infer } from "zod/mini";

/**
 * Worker records of the program that Holdfast descends from, as they may stand in a home that was taken over (I81). Read, never written:
 *
 *     version 1, flat     pid and processStartId at the top; createCommand may hold more than ours
 *     version 2, flat     the same, pruned
 *     nested              process: {pid, processStartId}, with or without a generation; version 1 or 2
 *
 * Where both are there, `process` counts. They name no machine, boot or namespace: only that program's own supervisor wrote them, on the
 * machine of its home.
 */
const schema = looseObject({
  version: union([literal(1), literal(2)]),
  workerId: string(),
  socketPath: string(),
  authenticationToken: string(),
  lifecycle: optional(string()),
  pid: optional(nullable(int().check(positive(), maximum(2 ** 31 - 1)))),
  processStartId: optional(nullable(string())),
  process: optional(
    nullable(
      looseObject({
        pid: int().check(positive(), maximum(2 ** 31 - 1)),
        processStartId: optional(nullable(string())),
      }),
    ),
  ),
  generation: optional(
    string().check(regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i)),
  ),
  /** RFC 3339, or milliseconds since the epoch. */
  stopRequestedAt: optional(nullable(union([string(), number()]))),
  archiveOnStop: optional(nullable(boolean())),
});

/** Where no daemon runs, which could prove what it says. */
export const OLDER_FORM = "its worker record is of an older form: agent daemon start looks at it";

export const olderLifecycles = ["starting", "ready", "recovering", "stopping", "failed", "passivated"] as const;
export type OlderLifecycle = (typeof olderLifecycles)[number];

export interface OlderRecord {
  readonly form: "flat-1" | "flat-2" | "nested";
  /** `unknown`: missing, or a later one. */
  readonly lifecycle: OlderLifecycle | "unknown";
  readonly named: { readonly pid: number; readonly startId: string | null } | null;
  readonly generation: string | null;
  readonly socketPath: string;
  readonly token: string;
  readonly stop: { readonly requestedAt: string; readonly goal: "stop" | "archive" } | null;
}

export type OlderRead =
  /** Not of these forms: ours, or damage. */
  | { readonly kind: "other" }
  | { readonly kind: "incomplete"; readonly path: string }
  | { readonly kind: "another"; readonly workerId: string }
  | { readonly kind: "older"; readonly record: OlderRecord };

export function readOlder(value: unknown, sessionId: string): OlderRead {
  if (typeof value !== "object" || value === null || !("version" in value) || "schemaVersion" in value)
    return { kind: "other" };
  const parsed = schema.safeParse(value);
  if (!parsed.success) return { kind: "incomplete", path: parsed.error.issues[0]?.path.join(".") ?? "" };
  const { data } = parsed;
  if (data.workerId !== sessionId) return { kind: "another", workerId: data.workerId };
  return { kind: "older", record: recordOf(data) };
}

function recordOf(data: Infer<typeof schema>): OlderRecord {
  const { process, pid, processStartId, generation, socketPath, authenticationToken: token } = data;
  const flat = pid ? { pid, startId: processStartId ?? null } : null;
  return {
    form: process ? "nested" : `flat-${data.version}`,
    lifecycle: olderLifecycles.find((known) => known === data.lifecycle) ?? "unknown",
    named: process ? { pid: process.pid, startId: process.processStartId ?? null } : flat,
    generation: generation ?? null,
    socketPath,
    token,
    stop: stopOf(data),
  };
}

function stopOf({ stopRequestedAt, archiveOnStop, lifecycle }: Infer<typeof schema>): OlderRecord["stop"] {
  const isAsked = stopRequestedAt !== undefined && stopRequestedAt !== null;
  if (!isAsked && lifecycle !== "stopping") return null;
  const at = new Date(stopRequestedAt ?? 0);
  const requestedAt = (Number.isNaN(at.getTime()) ? new Date(0) : at).toISOString();
  return { requestedAt, goal: archiveOnStop ? "archive" : "stop" };
}
