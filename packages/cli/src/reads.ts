import type { Client } from "@holdfast/client";
import { ProtocolError } from "@holdfast/client/protocol";
import type { Context } from "./context.ts";

type Offline = typeof import("@holdfast/daemon-supervisor/offline");

export const isCode = (error: unknown, code: string): boolean => error instanceof ProtocolError && error.code === code;

/**
 * Asks the daemon, or reads the state directory where none runs. A read starts no daemon, but for recovery: the recorded owner is
 * gone and some descriptor still names a process (CLI.md §3, *Starting*).
 */
export async function read<T>(
  context: Context,
  online: (client: Client) => Promise<T>,
  offline: (state: Offline) => T | Promise<T>,
): Promise<T> {
  const client = await context.client();
  try {
    return await online(client);
  } catch (error) {
    if (!isCode(error, "daemon_not_running")) throw error;
  }
  const { home, autostart } = context.options;
  const state = await import("@holdfast/daemon-supervisor/offline");
  if (autostart && state.ownerState(home).kind === "gone" && state.descriptorsNameProcess(home)) {
    await context.startDaemon();
    return await online(client);
  }
  await context.say(`no daemon runs for ${home}: reading the state directory`);
  return await offline(state);
}
