import { ProtocolError } from "@holdfast/client/protocol";
import type { MethodParams, MethodResults, RepairName } from "@holdfast/client/protocol";
import { checkOwner } from "../ownership/check-owner.ts";
import type { RequestStamp } from "../registry-ports.ts";
import { assertGone } from "./assert-gone.ts";
import { quarantine, resolve } from "./repair-journal.ts";
import { release, setAside } from "./repair-records.ts";
import type { Services } from "./services.ts";

/** One repair of one session. */
export interface RepairOrder {
  readonly sessionId: string;
  /** A person has asserted that nothing of it lives. */
  readonly asserted: boolean;
  readonly stamp: RequestStamp;
}

type Repair = (services: Services, order: RepairOrder) => Promise<string>;

const sessionRepairs: Readonly<Record<Exclude<RepairName, "resolve_requests">, Repair>> = {
  assert_gone: assertGone,
  release_quarantine: release,
  set_aside_session: setAside,
  quarantine_journal: quarantine,
  resolve_journal: resolve,
};

/** What a person decided in `doctor`. Each effect is durable before the answer, and what is there already is left as it is. */
export async function repair(
  services: Services,
  { repair: name, subject, asserted = false, requestId }: MethodParams<"doctor/repair">,
): Promise<MethodResults["doctor/repair"]> {
  if (name === "resolve_requests") return await resolveRequests(services, subject);
  const { requests, sessions, lanes } = services;
  const order = { method: "doctor/repair", requestId, content: { name, subject, asserted } };
  return await requests.once(order, async (stamp, repeated) => {
    const sessionId = repeated?.sessionId ?? sessions.select(subject);
    const done = repeated
      ? "done already"
      : await lanes.run(sessionId, async () => {
          checkOwner(() => services.status() === "current");
          return await sessionRepairs[name](services, { sessionId, asserted, stamp });
        });
    services.changes.tell(sessionId);
    return { answer: { subject, sessionId, done }, final: true };
  });
}

/**
 * Not remembered under its id: the journal that would remember it is the one that is not served. A repeat finds nothing left to
 * resolve, and changes nothing.
 */
async function resolveRequests(
  { context, requests }: Services,
  subject: string,
): Promise<MethodResults["doctor/repair"]> {
  if (subject !== context.home) throw new ProtocolError("usage", `${subject} is not the home of this daemon`);
  const count = await requests.resolveQuarantines({ by: "doctor", decision: "accepted as lost" });
  return { subject, done: `resolved ${count} quarantines: requests of before are not remembered` };
}
