import { trustPath } from "../../home.ts";
import { trustCommand } from "../../trust-words.ts";
import { told } from "./finding.ts";
import type { Finding, SeenHome } from "./seen.ts";

/** Pure: what is wrong with the list of trusted directories. None is repaired: what is trusted is a person's to say. */
export function judgeTrust({ home, trust }: Pick<SeenHome, "home" | "trust">): Finding[] {
  const subject = trustPath(home);
  if (trust.kind !== "list") {
    const { reason } = trust;
    return trust.kind === "malformed"
      ? [told({ kind: "trust_malformed", subject, reason }, MEND)]
      : [told({ kind: "trust_unreadable", subject, reason }, "make it a file that this user can read")];
  }
  return trust.directories.flatMap(({ directory, state, reason }) => {
    if (state === "trusted") return [];
    const what = { kind: kinds[state], subject: directory, reason: reason ?? state } as const;
    return [told(what, nextOf(directory)[state])];
  });
}

const MEND = "mend it by hand, or move it away: then nothing is trusted, and agent trust add DIR begins a new list";

const kinds = { replaced: "trust_replaced", missing: "trust_missing", unreadable: "trust_unreadable" } as const;

function nextOf(directory: string): Readonly<Record<keyof typeof kinds, string>> {
  const [add, remove] = [trustCommand("add", directory), trustCommand("remove", directory)];
  return {
    replaced: `${add} trusts what is there now; else ${remove}`,
    missing: `put it back, then ${add} if it is another one; else ${remove}`,
    unreadable: `let this user look at it, and it is trusted as before; else ${remove}`,
  };
}
