import {
  int,
  looseObject,
  minLength,
  number,
  object,
  nullable,
  positive,
  regex,
  string,
  enum as oneOf,
} from "zod/mini";
import type { infer as Infer } from "zod/mini";

const text = nullable(string());
/** What was read is never empty: empty text is damage, and would count as another boot or machine. */
const id = nullable(string().check(minLength(1)));
const digits = nullable(string().check(regex(/^\d+$/)));

/** `ProcessIdentity` of shared-process as it stands in a file. */
export const identitySchema = object({
  machineId: id,
  bootId: id,
  pid: int().check(positive()),
  pidNamespace: id,
  timeNamespace: id,
  startTicks: digits,
  pidfsInode: digits,
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
