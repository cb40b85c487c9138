import type { Supervisor } from "../compose.ts";
import { Lanes } from "../lanes.ts";
import { Names } from "./names.ts";
import { Requests } from "./requests.ts";
import type { Services } from "./services.ts";
import { Submissions } from "./submissions.ts";

interface ServicesParts extends Pick<Services, "shutdown" | "socketPath" | "status"> {
  readonly isOwner: () => boolean;
}

/** What request handlers work with, over one supervisor. */
export function composeServices(supervisor: Supervisor, { isOwner, ...surroundings }: ServicesParts): Services {
  const { context, sessions, channels, stores, ender, records, changes, trust } = supervisor;
  const submissions = new Submissions();
  const requests = new Requests({ ...context, records }, isOwner, submissions);
  const names = new Names(context.catalog);
  const over = { context, sessions, channels, stores, ender, records, changes, trust };
  return { ...over, requests, names, submissions, lanes: new Lanes(), ...surroundings };
}
