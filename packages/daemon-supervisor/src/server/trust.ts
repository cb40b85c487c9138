import { ProtocolError } from "@holdfast/client/protocol";
import type { MethodParams, MethodResults } from "@holdfast/client/protocol";
import {
  canonicalDirectory,
  canonicalPath,
  type DirectoryIdentity,
  type TrustedDirectory,
  withAdded,
  withRemoved,
} from "@holdfast/project-trust";
import { checkOwner } from "../ownership/check-owner.ts";
import { lookAtTrusted, rowOf } from "../trust-list.ts";
import { trustCommand } from "../trust-words.ts";
import type { Services } from "./services.ts";

/** One change of the list at a time: each is made of the list that it found. No session has this id. */
const LANE = "trust.json";

/**
 * Trusts a directory as it is now. A crash between the list and the answer leaves it trusted, and the repeat finds it
 * so: what is trusted already, and is the same directory, stays as it is, with its revision and what is bound to it
 * (I143).
 */
export function addTrust(
  services: Services,
  { requestId, directory, via }: MethodParams<"trust/add">,
): Promise<MethodResults["trust/add"]> {
  const content = { directory, ...(via === undefined ? {} : { via }) };
  const add = async () => ({ answer: await added(services, content), final: true });
  return services.requests.once({ method: "trust/add", requestId, content }, () => services.lanes.run(LANE, add));
}

/** Trusts a directory no more. One that is not trusted is left as it is: what a repeat after a crash finds. */
export function removeTrust(
  services: Services,
  { requestId, directory }: MethodParams<"trust/remove">,
): Promise<MethodResults["trust/remove"]> {
  const content = { directory };
  const remove = async () => ({ answer: await removed(services, directory), final: true });
  return services.requests.once({ method: "trust/remove", requestId, content }, () => services.lanes.run(LANE, remove));
}

interface Wanted {
  readonly directory: string;
  readonly via?: string;
}

async function added(services: Services, { directory, via }: Wanted): Promise<MethodResults["trust/add"]> {
  const { trust, context } = services;
  const listed = trust.read();
  const identity = exactDirectory(directory);
  checkOwner(() => services.status() === "current");
  const known = listed.find((entry) => entry.directory === directory);
  if (known !== undefined && trust.isProven(known, identity)) {
    await trust.keep(listed);
    return rowOf(known, "trusted");
  }
  const revision = context.ids.newId();
  const addedAt = new Date(context.clock.now()).toISOString();
  const next = withAdded(listed, { identity, revision, addedAt, ...(via === undefined ? {} : { via }) });
  await trust.write(next, revision);
  const found = trust.authority.entries().find((entry) => entry.directory === directory);
  return { directory, addedAt, state: found?.state ?? "unreadable", ...(via === undefined ? {} : { via }) };
}

async function removed(services: Services, directory: string): Promise<MethodResults["trust/remove"]> {
  const { trust } = services;
  const path = canonicalPath(directory);
  if (path.kind === "refused") throw unsafe(`${directory} is no exact path, and none such is trusted`, path.reason);
  const listed = trust.read();
  checkOwner(() => services.status() === "current");
  const known = listed.find((entry) => entry.directory === directory);
  if (known === undefined) {
    await trust.keep(listed);
    return { directory, removed: false };
  }
  const row = foundAs(known);
  await trust.write(withRemoved(listed, directory), null);
  return { ...row, removed: true };
}

/** Only what is there by this very path, not what it leads to (I47, I160). */
function exactDirectory(directory: string): DirectoryIdentity {
  const found = canonicalDirectory(directory);
  if (found.kind === "denied")
    throw unsafe(found.detail, found.reason, "agent trust add takes a directory that is there");
  const exact = found.identity.directory;
  if (exact === directory) return found.identity;
  throw unsafe(
    `${directory} is another spelling of ${exact}: only the exact path is trusted`,
    "not_canonical",
    trustCommand("add", exact),
  );
}

const unsafe = (message: string, reason: string, hint = "agent trust list"): ProtocolError =>
  new ProtocolError("unsafe_directory", message, { hint, data: { reason } });

function foundAs(entry: TrustedDirectory): ReturnType<typeof rowOf> {
  const [found] = lookAtTrusted([entry]);
  return rowOf(entry, found?.state ?? "unreadable");
}
