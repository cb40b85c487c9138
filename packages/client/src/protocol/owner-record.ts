import { int, looseObject, number, object, nullable, positive, string, enum as oneOf } from "zod/mini";
import type { infer as Infer } from "zod/mini";

const text = nullable(string());

/** `ProcessIdentity` of shared-process as it stands in a file. */
export const identitySchema = object({
  machineId: text,
  bootId: text,
  pid: int().check(positive()),
  pidNamespace: text,
  timeNamespace: text,
  startTicks: text,
  pidfsInode: text,
});

/** `<home>/owner/<epoch>.json`: who owns the home. The highest valid name wins; clients find the socket through it. */
export const ownerRecordSchema = looseObject({
  schemaVersion: number(),
  epoch: int().check(positive()),
  home: string(),
  identity: identitySchema,
  lifelinePath: text,
  /** `null` until it listens and in phase `maintenance`. */
  socketPath: text,
  version: string(),
  phase: oneOf(["starting", "serving", "maintenance", "stopped"]),
  claimedAt: string(),
});
export type OwnerRecord = Infer<typeof ownerRecordSchema>;

export const OWNER_FILE = /^([1-9]\d{0,14})\.json$/;
