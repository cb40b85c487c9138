import type { Running } from "../support/command.ts";
import { Home } from "../support/home.ts";
import { signal } from "../support/processes.ts";
import { waitFor } from "../support/wait-for.ts";
import type { Moment } from "./orders.ts";
import { outcome, promised } from "./outcome.ts";
import { Paused } from "./paused.ts";
import type { Scenario } from "./scenarios.ts";

/** Until nothing more is told after the end: what a supervisor does once it has answered counts too. */
const QUIET_MS = 250;
/** For a machine under load. */
const REACH_MS = 60_000;

/** Every moment of a scenario that nobody cuts short. Throws when even that does not end as it should. */
export async function record(scenario: Scenario, program: string): Promise<readonly Moment[]> {
  await using home = await Home.create({ timeoutMs: REACH_MS, forceStop: true });
  const { paused, client } = await begin(scenario, home, { program, stop: null });
  await hasEnded(scenario, paused, client);
  let told = -1;
  let since = performance.now();
  await waitFor(() => {
    const { length } = paused.recorded;
    if (length !== told) since = performance.now();
    told = length;
    return performance.now() - since > QUIET_MS;
  }, "nothing more happens");
  // A worker that is being started is looked for again and again, as often as it takes.
  const moments = paused.recorded.filter(({ call, nth }) => !call.startsWith("dial ") || nth === 1);
  if (scenario.during !== "force-stop" && paused.running.hasEnded())
    throw new Error(`it ended: ${paused.running.stderr}`);
  await outcome(scenario, home);
  return moments;
}

/** A record gets or loses its name. What lies in `run` has names that are never used again. */
const named = /^(?:rename|link|unlink|mkdir) \/(?:owner\/|workers\/|sessions\/|journal\/)(?!.*\.tmp$)/;
/** Whether it comes to a SIGKILL is a matter of how soon a process ends: not each run has that moment. */
const acts = /^(?:spawn|open gate|discard|signal(?! SIGKILL)|tree end|dial)/;

/** Where a phase ends: before the first of each kind of call that others see, or that acts on a process. */
export const boundaries = (moments: readonly Moment[]): readonly Moment[] =>
  moments.filter(({ when, call, nth }) => when === "before" && nth === 1 && (named.test(call) || acts.test(call)));

/** The same, and the supervisor dies at one moment. `false`: this time it did not come to it. */
export async function dieAt(scenario: Scenario, program: string, stop: Moment): Promise<boolean> {
  await using home = await Home.create({ timeoutMs: REACH_MS, forceStop: true });
  const { paused, client } = await begin(scenario, home, { program, stop });
  const ended = hasEnded(scenario, paused, client).then(
    () => performance.now(),
    () => performance.now(),
  );
  let endedAt = Number.POSITIVE_INFINITY;
  void ended.then((at) => (endedAt = at));
  await waitFor(
    () => paused.hasReached || performance.now() - endedAt > 4 * QUIET_MS,
    "the moment is reached",
    REACH_MS,
  );
  const { hasReached } = paused;
  // First the client: what follows is what a successor makes of it by itself.
  client?.killGroup();
  await paused.kill();
  await promised(home);
  await outcome(scenario, home);
  return hasReached;
}

interface Begun {
  readonly paused: Paused;
  readonly client: Running | null;
}

async function begin(
  { prepare, during, before, request }: Scenario,
  home: Home,
  { program, stop }: { readonly program: string; readonly stop: Moment | null },
): Promise<Begun> {
  if (during !== "own request") {
    await prepare(home);
    if (during === "force-stop")
      return { paused: Paused.start(home, program, { program: during, stop, armed: true }), client: null };
  }
  // A worker with work would start a successor of its own before this one has the home.
  const workers = during === "own request" ? [] : home.workers();
  for (const worker of workers) home.freeze(worker);
  if (during !== "own request") await home.kill(home.daemon());
  const paused = Paused.start(home, program, { program: "supervisor", stop, armed: during === "start" });
  if (during !== "start") await paused.untilServing();
  for (const worker of workers) signal(worker, "SIGCONT");
  if (during === "start") return { paused, client: null };
  if (during === "own request") await prepare(home);
  else await home.untilState("s", "ready", REACH_MS);
  paused.arm();
  await before?.(home);
  return { paused, client: home.start(request(home)) };
}

async function hasEnded({ during }: Scenario, paused: Paused, client: Running | null): Promise<void> {
  if (client) await client.result(REACH_MS);
  else if (during === "start") await paused.untilServing();
  else await paused.running.result(REACH_MS);
}
