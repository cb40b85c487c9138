import type { Client } from "@holdfast/client";
import { ProtocolError } from "@holdfast/client/protocol";
import type { Context } from "./context.ts";
import { failureOf } from "./failure.ts";

type Offline = typeof import("@holdfast/daemon-supervisor/offline");

export const isCode = (error: unknown, code: string): boolean => error instanceof ProtocolError && error.code === code;

export const noDaemon = ({ options, startProblem }: Context): string =>
  `${startProblem ?? `no daemon runs for ${options.home}`}: reading the state directory`;

/** The daemon's answer, or what the state directory says where none runs, or one of another protocol (DESIGN §9). */
export async function read<T>(
  context: Context,
  online: (client: Client) => Promise<T>,
  offline: (state: Offline) => T | Promise<T>,
): Promise<T> {
  let why: string | null = null;
  const answered = await ask(context, online).catch((error: unknown) => {
    if (!(error instanceof ProtocolError) || error.code !== "version_mismatch") throw error;
    why = `${error.message}: reading the state directory (agent daemon restart)`;
    return null;
  });
  if (answered) return answered.value;
  await context.say(why ?? noDaemon(context));
  return await offline(await import("@holdfast/daemon-supervisor/offline"));
}

/**
 * The daemon's answer; `null` where none runs. A read starts no daemon, but for recovery: the recorded owner is gone and some descriptor
 * still names a process (CLI.md §3, *Starting*). Where that fails, `startProblem` says why: a read works all the same.
 */
export async function ask<T>(
  context: Context,
  online: (client: Client) => Promise<T>,
): Promise<{ readonly value: T } | null> {
  const client = await context.client();
  try {
    return { value: await online(client) };
  } catch (error) {
    if (!isCode(error, "daemon_not_running")) throw error;
  }
  const { home, autostart } = context.options;
  const { ownerState, descriptorsNameProcess } = await import("@holdfast/daemon-supervisor/offline");
  if (!autostart || ownerState(home).kind !== "gone" || !descriptorsNameProcess(home)) return null;
  if (context.startProblem !== null) return null;
  try {
    await context.startDaemon();
  } catch (error) {
    context.startProblem = failureOf(error).message;
    return null;
  }
  return { value: await online(client) };
}
