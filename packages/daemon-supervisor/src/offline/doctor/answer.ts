import { createClient, probeDaemon } from "@holdfast/client";
import { ProtocolError } from "@holdfast/client/protocol";
import type { Client } from "@holdfast/client";
import type { SessionRow } from "@holdfast/client/protocol";
import { systemClock } from "@holdfast/shared-process";
import type { OfflineOwner } from "../owner.ts";
import type { Answer } from "./seen.ts";

/** A loaded machine, or a daemon that is only just starting, takes this long; a longer silence is one. */
const ANSWER_MS = 5_000;
const POLL_MS = 50;

/** Asks the daemon of a home, if there may be one; starts nothing, and waits for nobody longer than it takes to tell. */
export async function askDaemon(home: string, owner: OfflineOwner): Promise<Answer> {
  if (owner.kind !== "alive" && owner.kind !== "unknown") return { kind: "none" };
  const until = systemClock.monotonic() + ANSWER_MS;
  try {
    for (;;) {
      const hello = await probeDaemon(home, Math.max(1, until - systemClock.monotonic()));
      if (hello !== null) return { kind: "answers", version: hello.version, ...(await told(home)) };
      // Of one that cannot be observed nothing more comes by waiting.
      if (owner.kind === "unknown") return { kind: "none" };
      if (systemClock.monotonic() >= until) return { kind: "silent" };
      await new Promise<void>((resolve) => void systemClock.setTimer(POLL_MS, resolve));
    }
  } catch (error) {
    if (error instanceof ProtocolError && error.code === "version_mismatch")
      return { kind: "other_protocol", why: error.message };
    throw error;
  }
}

async function told(home: string): Promise<Pick<Extract<Answer, { kind: "answers" }>, "status" | "rows">> {
  using client = createClient({ home, name: "agent doctor", ownerAlive: () => "alive" });
  const { status } = await client.call("daemon/status", {});
  return { status, rows: await allRows(client) };
}

async function allRows(client: Client): Promise<SessionRow[]> {
  const rows: SessionRow[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await client.call("session/list", { archived: true, ...(cursor === undefined ? {} : { cursor }) });
    rows.push(...page.sessions);
    if (page.nextCursor === undefined) return rows;
    cursor = page.nextCursor;
  }
}
