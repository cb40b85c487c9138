import { MAX_LINE_BYTES } from "./limits.ts";

const NEWLINE = 0x0a;

/**
 * Splits a byte stream into lines at LF alone, so that U+2028 and a lone CR stay inside a line (I150) and a code point cut by a chunk
 * is whole again. Keeps at most one line of `maxBytes`; a longer one throws `RangeError` (I116).
 */
export class LineDecoder {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #held = 0;

  constructor(maxBytes: number = MAX_LINE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#hold(chunk.subarray(start, end));
      lines.push(this.#take());
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
    return lines;
  }

  #hold(part: Buffer): void {
    this.#held += part.length;
    if (this.#held > this.#maxBytes) throw new RangeError(`a line is longer than ${this.#maxBytes} bytes`);
    this.#parts.push(part);
  }

  #take(): string {
    const [only] = this.#parts;
    const line = this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#held = 0;
    return line.toString("utf8");
  }
}

export interface Request {
  readonly kind: "request";
  readonly id: number | string;
  readonly method: string;
  readonly params: unknown;
}
export interface Notification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: unknown;
}
export interface Response {
  readonly kind: "response";
  readonly id: number | string;
  readonly outcome: { readonly result: unknown } | { readonly error: WireError };
}
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: Record<string, unknown>;
}
export type Frame = Request | Notification | Response | { readonly kind: "malformed"; readonly why: string };

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isId = (value: unknown): value is number | string => typeof value === "number" || typeof value === "string";

/** Reads one line as a JSON-RPC 2.0 message. */
export function parseFrame(line: string): Frame {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // The text is the evidence; the parser's own words add nothing that a client could act on.
    return { kind: "malformed", why: "not JSON" };
  }
  if (!isObject(value)) return { kind: "malformed", why: "not an object" };
  const { id, method, params, error } = value;
  if (typeof method === "string") {
    if (id === undefined) return { kind: "notification", method, params };
    return isId(id) ? { kind: "request", id, method, params } : { kind: "malformed", why: "bad id" };
  }
  if (!isId(id)) return { kind: "malformed", why: "neither a method nor an id" };
  if (error === undefined) return { kind: "response", id, outcome: { result: value["result"] } };
  if (!isObject(error) || typeof error["code"] !== "number" || typeof error["message"] !== "string")
    return { kind: "malformed", why: "bad error" };
  const data = isObject(error["data"]) ? { data: error["data"] } : {};
  return { kind: "response", id, outcome: { error: { code: error["code"], message: error["message"], ...data } } };
}

export const encodeFrame = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
