import { ProtocolError } from "@holdfast/client/protocol";
import type { SessionRow } from "@holdfast/client/protocol";
import { confirmed } from "./confirm.ts";
import type { Context } from "./context.ts";
import { ask } from "./reads.ts";

const UNTOUCHED = "nothing was touched";

/** The id of the session that a person agreed to delete. Throws for an unknown one before it asks. */
export async function confirmDeletion(context: Context, session: string): Promise<string> {
  const { sessionId, name } = await lookUp(context, session);
  const called = name === null ? sessionId : `${name} (${sessionId})`;
  if (await confirmed(context, `delete session ${called} with its transcript? [y/N] `, UNTOUCHED)) return sessionId;
  throw new ProtocolError("confirmation_required", `${UNTOUCHED}: deleting ${called} removes its transcript too`, {
    hint: `agent session delete ${session} --yes`,
  });
}

/** Before anything is confirmed no daemon is started for it. */
async function lookUp(context: Context, session: string): Promise<SessionRow> {
  const answered = await ask(context, (client) => client.call("session/show", { session }));
  if (answered) return answered.value;
  const { showOffline } = await import("@holdfast/daemon-supervisor/offline");
  return showOffline(context.options.home, session);
}
