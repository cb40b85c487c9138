import {
  _default,
  array,
  boolean,
  enum as oneOf,
  int,
  looseObject,
  maximum,
  nonnegative,
  nullable,
  number,
  object,
  optional,
  string,
} from "zod/mini";
import type { infer as Infer } from "zod/mini";
import { identitySchema } from "@holdfast/client/protocol";
import type { LaunchTime, StopIntent, WorkerProcess } from "./lifecycle/state.ts";
import { goals } from "./lifecycle/state.ts";

/** An epoch is the name of a file, of at most fifteen digits (`OWNER_FILE`), and another one comes after it. */
export const MAX_EPOCH = 10 ** 14;

/**
 * `<home>/workers/<sessionId>.json`, version 2: exists while there is, or may be, a process, and for a recovering or failed session
 * with its last, proven dead one.
 */
export const descriptorSchema = looseObject({
  schemaVersion: number(),
  sessionId: string(),
  lifecycle: oneOf(["starting", "ready", "recovering", "failed"]),
  epoch: int().check(nonnegative(), maximum(MAX_EPOCH)),
  process: object({
    generation: string(),
    identity: identitySchema,
    socketPath: string(),
    token: string(),
    marker: string(),
    lifelinePath: nullable(string()),
    /** Not in those of workers that were launched before there was such a thing. */
    cgroupPath: _default(nullable(string()), null),
    /** Those that do not say it are of the first. */
    protocol: _default(nullable(int()), 1),
    /** A person has said, by `doctor`, that it is gone. */
    assertedGone: optional(boolean()),
  }),
  launches: array(object({ bootId: nullable(string()), at: number() })),
  stop: optional(object({ stopId: string(), requestedAt: string(), goal: oneOf(goals), force: boolean() })),
  reason: optional(string()),
  code: optional(oneOf(["session_failed", "needs_fresh_environment"])),
  updatedAt: string(),
});
export type Descriptor = Infer<typeof descriptorSchema>;

/** What a state says about its descriptor; the writer adds the stamps. */
export interface DescriptorShape {
  readonly lifecycle: Descriptor["lifecycle"];
  readonly process: WorkerProcess;
  readonly launches: readonly LaunchTime[];
  readonly stop?: StopIntent;
  readonly reason?: string;
  readonly code?: "session_failed" | "needs_fresh_environment";
}

/** Without the stamps. */
export const shapeOf = ({ lifecycle, process, launches, stop, reason, code }: Descriptor): DescriptorShape => ({
  lifecycle,
  process,
  launches,
  ...(stop ? { stop } : {}),
  ...(reason === undefined ? {} : { reason }),
  ...(code === undefined ? {} : { code }),
});

export const DESCRIPTOR_VERSION = 2;
export const descriptorPath = (home: string, sessionId: string): string => `${home}/workers/${sessionId}.json`;
/** The intent when the disk is full: an empty file whose name says all (DESIGN §3.3). */
export const intentPath = (home: string, sessionId: string, intent: StopIntent): string =>
  `${home}/workers/${sessionId}.${intent.stopId}.${intent.goal}`;
export const DESCRIPTOR_FILE = /^([0-9a-f-]{36})\.json$/;
export const INTENT_FILE = /^([0-9a-f-]{36})\.([0-9a-f-]{36})\.(stop|archive|passivate|replace)$/;

export const encodeDescriptor = (
  sessionId: string,
  shape: DescriptorShape,
  stamp: { readonly epoch: number; readonly at: string },
): string =>
  `${JSON.stringify({ schemaVersion: DESCRIPTOR_VERSION, sessionId, epoch: stamp.epoch, ...shape, updatedAt: stamp.at })}\n`;
