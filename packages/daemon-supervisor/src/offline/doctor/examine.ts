import { judgeHome } from "./judge-home.ts";
import { judgeSession } from "./judge-session.ts";
import { lookAt } from "./look.ts";
import type { Finding, Seen } from "./seen.ts";

/** Pure. The home first: while it has no owner nothing else can be repaired. */
export const judge = (seen: Seen): Finding[] => [
  ...judgeHome(seen),
  ...seen.sessions.flatMap((session) => judgeSession(session, seen)),
];

/** What is wrong with a home, by looking alone: no daemon is started, nothing is changed. */
export const examine = async (home: string): Promise<Finding[]> => judge(await lookAt(home));
