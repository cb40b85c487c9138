import { MAX_QUEUED_TEXT_BYTES, ProtocolError, SESSION_NAME } from "@holdfast/client/protocol";
import type { Io } from "./io.ts";
import { usage } from "./usage.ts";

/** Refused here, before anything is read or started (I148). */
export function sessionName(name: string): string {
  if (SESSION_NAME.test(name)) return name;
  throw new ProtocolError("invalid_name", `not a session name: ${JSON.stringify(name)}`, {
    hint: "1 to 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit",
  });
}

/** The daemon resolves it; empty could only be a mistake, such as an unset variable. */
export function selector(session: string): string {
  if (session.trim() === "") throw usage("the session is empty", "agent session list");
  return session;
}

/** The events of a session carry them. */
export function cursorAfter(cursor: string): string {
  if (cursor.trim() === "") throw usage(`not a cursor: ${JSON.stringify(cursor)}`, "use one that an event carried");
  return cursor;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A page of a list ends with the id of its last session. */
export function pageCursor(cursor: string): string {
  if (UUID.test(cursor)) return cursor;
  throw usage(`--cursor: not one that this command gave: ${JSON.stringify(cursor)}`, "agent session list --json");
}

export function positiveInteger(text: string, option: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value > 0) return value;
  throw usage(`${option}: not a positive whole number: ${JSON.stringify(text)}`, `${option} 20`);
}

/** `K=V`, or `K` for the value that it has here. Kept in memory by the daemon, never stored. */
export function secretEnvironment(settings: readonly string[], env: NodeJS.ProcessEnv): Record<string, string> {
  const values: Record<string, string> = {};
  for (const setting of settings) {
    const at = setting.indexOf("=");
    const name = at < 0 ? setting : setting.slice(0, at);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw usage(`--env: not a variable's name: ${JSON.stringify(name)}`, "--env NAME=VALUE");
    const value = at < 0 ? env[name] : setting.slice(at + 1);
    if (value === undefined) throw usage(`--env ${name}: not set here`, `--env ${name}=VALUE`);
    values[name] = value;
  }
  return values;
}

/** `KEY=VALUE`; the value may be empty and may have further equals signs. */
export function optionValues(settings: readonly string[]): Record<string, string> {
  const values = new Map<string, string>();
  for (const setting of settings) {
    const at = setting.indexOf("=");
    const key = setting.slice(0, Math.max(at, 0)).trim();
    if (key === "") throw usage(`not KEY=VALUE: ${JSON.stringify(setting)}`, "agent session set S KEY=VALUE");
    if (values.has(key)) throw usage(`${key} is given twice`, "each key once");
    values.set(key, setting.slice(at + 1));
  }
  return Object.fromEntries(values);
}

/** The text as given; `-` reads standard input to its end, byte for byte (I150). */
export async function promptText(argument: string, io: Io): Promise<string> {
  if (argument !== "-") return argument;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of io.stdin) {
    bytes += chunk.length;
    if (bytes > MAX_QUEUED_TEXT_BYTES)
      throw usage("standard input is longer than 8 MiB", "put it into a file of the session's directory");
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    // The only way to fail is a byte that is not UTF-8, which could not arrive unchanged.
    throw usage("standard input is not UTF-8", "iconv -t UTF-8");
  }
}
