import { invariant } from "@holdfast/shared-process";
import { OWNER_MAX_BYTES } from "../format.ts";
import { storedJson } from "../format/stored-json.ts";
import type { JournalOwner } from "../types.ts";
import { journalError } from "./errors.ts";

/** An owner as its head will name it, a copy. Throws `CodedError("record_too_large")`. */
export function storedOwner({ generation, identity }: JournalOwner): JournalOwner {
  invariant(typeof generation === "string", "an owner's generation is text");
  const owner = { generation, identity: storedJson(identity) };
  const bytes = Buffer.byteLength(JSON.stringify(owner));
  if (bytes <= OWNER_MAX_BYTES) return owner;
  throw journalError("record_too_large", `the owner's name has ${bytes} bytes, more than ${OWNER_MAX_BYTES}`);
}
