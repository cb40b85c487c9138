import { LF, parseObject } from "../format/line.ts";

/** What the last line of one active session said, in a file of the origin's format. */
export interface LegacySession {
  readonly activeSessionId: string;
  readonly sessionId: string;
  readonly sessionFile: string | null;
  readonly busy: boolean;
  readonly operation: string;
  /** As it was written. */
  readonly recordedAt: string | number;
}

/** Work that such a file leaves open. It is only ever reported: nothing settles it. */
export interface LegacyOperation extends Omit<LegacySession, "busy"> {
  readonly kind: "legacy";
  /** `null` for a line of version 1, whose key is the active session alone. */
  readonly operationId: string | null;
  readonly generation: string | null;
}

export type LegacyScan =
  | {
      readonly kind: "legacy";
      /** The lines of version 1, the latest of each active session. */
      readonly sessions: readonly LegacySession[];
      /** The busy ones of them, and the lines of version 2 that have no end. */
      readonly open: readonly LegacyOperation[];
      /** The last line was cut off. What it would have said is not known: what was open before it stays so. */
      readonly uncertainTail: boolean;
    }
  | { readonly kind: "corrupt" | "unsupported-version"; readonly offset: number; readonly message: string };

/**
 * Reads the origin's lines, which have no checksum: pure, never throws. Any bad line but an unterminated last one is corruption,
 * since it may have hidden work. A line of version 2 counts by its own key (active session, generation, operation id), and only an
 * end of the same operation closes it; neither version touches the other's work (I85). Bytes in which nothing of the origin's can be
 * seen, not even the start of a first line, are no such file.
 */
export function scanLegacy(bytes: Uint8Array): LegacyScan {
  const sessions = new Map<string, LegacySession>();
  const begun = new Map<string, LegacyOperation>();
  let uncertainTail = false;
  let isKnown = bytes.length === 0;
  for (let at = 0; at < bytes.length;) {
    const found = bytes.indexOf(LF, at);
    const end = found === -1 ? bytes.length : found;
    const line = parseLine(bytes.subarray(at, end));
    if (line === "bad" && found !== -1) {
      return { kind: "corrupt", offset: at, message: "a line has no known form" };
    }
    if (line === "unknown") {
      return { kind: "unsupported-version", offset: at, message: "a line is of a version that is not known" };
    }
    if (line === "bad") uncertainTail = true;
    else if (line !== "empty") take(line, { sessions, begun });
    isKnown ||= line !== "empty" && (line !== "bad" || bytes[at] === OPENING_BRACE);
    at = end + 1;
  }
  if (!isKnown) return { kind: "corrupt", offset: 0, message: "no line has a known form" };
  const busy = [...sessions.values()].filter((session) => session.busy).map(openOf);
  return { kind: "legacy", sessions: [...sessions.values()], open: [...busy, ...begun.values()], uncertainTail };
}

const OPENING_BRACE = 0x7b;

interface Line {
  readonly session: LegacySession;
  /** Of version 2 alone. */
  readonly key: { readonly operationId: string; readonly generation: string } | null;
}

function take(
  { session, key }: Line,
  to: { sessions: Map<string, LegacySession>; begun: Map<string, LegacyOperation> },
) {
  if (key === null) {
    to.sessions.set(session.activeSessionId, session);
    return;
  }
  const name = JSON.stringify([session.activeSessionId, key.generation, key.operationId]);
  if (session.busy) to.begun.set(name, { ...openOf(session), ...key });
  else if (to.begun.get(name)?.operation === session.operation) to.begun.delete(name);
}

function openOf({ busy: _busy, ...session }: LegacySession): LegacyOperation {
  return { kind: "legacy", ...session, operationId: null, generation: null };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function parseLine(bytes: Uint8Array): Line | "empty" | "bad" | "unknown" {
  if (bytes.length === 0) return "empty";
  const fields = parseObject(textOf(bytes));
  const version = fields?.["version"];
  if (fields === null || typeof version !== "number") return "bad";
  if (version !== 1 && version !== 2) return "unknown";
  const session = sessionOf(fields);
  if (session === null) return "bad";
  if (version === 1) return { session, key: null };
  const { operationId, generation } = fields;
  return isUuid(operationId) && isUuid(generation) ? { session, key: { operationId, generation } } : "bad";
}

function sessionOf(fields: Readonly<Record<string, unknown>>): LegacySession | null {
  const { activeSessionId, sessionId, sessionFile = null, busy, operation, recordedAt } = fields;
  if (typeof activeSessionId !== "string" || typeof sessionId !== "string" || typeof operation !== "string")
    return null;
  if (sessionFile !== null && typeof sessionFile !== "string") return null;
  if (typeof busy !== "boolean" || (typeof recordedAt !== "string" && typeof recordedAt !== "number")) return null;
  return { activeSessionId, sessionId, sessionFile, busy, operation, recordedAt };
}

/** Nothing that is no UTF-8 is JSON; the empty text neither. */
function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    // A character was cut or damaged: the line is bad like any other.
    return "";
  }
}

function isUuid(value: unknown): value is string {
  return typeof value === "string" && UUID.test(value);
}
