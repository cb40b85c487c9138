import { CodedError } from "@holdfast/shared-process";

/** Another owner's records are never overwritten: asked before each write, since time may have passed since whatever was before. */
export function checkOwner(isOwner: () => boolean): void {
  if (!isOwner()) throw new CodedError("ownership_lost", "another supervisor owns the home");
}
