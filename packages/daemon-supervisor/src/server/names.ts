import { ProtocolError, SESSION_NAME } from "@holdfast/client/protocol";
import type { Catalog } from "../catalog.ts";
import type { SessionSummary } from "../session-index/row.ts";

/** Names are unique among unarchived roots (CLI.md §1), also among those that are just being written. */
export class Names {
  readonly #catalog: Catalog;
  /** Name → the session that takes it, and how many of its requests do. */
  readonly #reserved = new Map<string, { readonly sessionId: string; holders: number }>();

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  holder(name: string): SessionSummary | undefined {
    for (const session of this.#catalog.all())
      if (session.name === name && session.parentId === null && session.wanted !== "archived") return session;
    return undefined;
  }

  /** Throws `name_in_use`; else nobody else takes the name while `work` writes it. `null` needs no uniqueness. */
  async holding<T>(name: string | null, sessionId: string, work: () => Promise<T>): Promise<T> {
    if (name === null) return await work();
    const holder = this.holder(name);
    const reserved = this.#reserved.get(name) ?? { sessionId: holder?.sessionId ?? sessionId, holders: 0 };
    if (reserved.sessionId !== sessionId) throw nameInUse(name, holder, `agent session rename ${sessionId} NAME`);
    this.#reserved.set(name, reserved);
    reserved.holders += 1;
    try {
      return await work();
    } finally {
      reserved.holders -= 1;
      if (reserved.holders === 0) this.#reserved.delete(name);
    }
  }
}

/** Throws `invalid_name`, before anything is looked up or written (I148). */
export function checkName(name: string): void {
  if (SESSION_NAME.test(name)) return;
  throw new ProtocolError("invalid_name", `${JSON.stringify(name)} is not a session name`, {
    hint: "letters, digits, '.', '_' and '-', at most 64, the first a letter or digit",
  });
}

const NEW_HINT = "choose another; --ensure takes that session if agent and directory are the same";

export const nameInUse = (name: string, existing?: SessionSummary, hint = NEW_HINT): ProtocolError =>
  new ProtocolError("name_in_use", `the name ${name} is in use${existing ? ` by a session in ${existing.cwd}` : ""}`, {
    hint,
    ...(existing ? { data: { sessionId: existing.sessionId, cwd: existing.cwd, agent: existing.agent } } : {}),
  });
