import { isUtf8 } from "node:buffer";
import type { EventBody } from "@holdfast/client/protocol";

export type StreamName = "stdout" | "stderr";
export interface Piece {
  readonly stream: StreamName;
  readonly bytes: Buffer;
  readonly turnId: string | null;
}

/** Bytes of output in one event; a pipe gives about as much in one read. */
export const MAX_OUTPUT_EVENT_BYTES = 64 * 1024;

type OutputEvent = Extract<EventBody, { type: "output" }>;

/** Bytes to events, per stream: code points that a chunk cut are made whole, what is not UTF-8 travels as bytes too (I150). */
export class OutputDecoder {
  readonly #held: Record<StreamName, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };

  decode({ stream, bytes, turnId }: Piece): readonly OutputEvent[] {
    const all = this.#held[stream].length === 0 ? bytes : Buffer.concat([this.#held[stream], bytes]);
    const events: OutputEvent[] = [];
    let start = 0;
    while (all.length - start > MAX_OUTPUT_EVENT_BYTES) {
      const end = start + MAX_OUTPUT_EVENT_BYTES;
      const cut = end - unfinishedBytes(all.subarray(start, end));
      events.push(eventOf(stream, all.subarray(start, cut), turnId));
      start = cut;
    }
    const rest = all.subarray(start);
    const held = unfinishedBytes(rest);
    // A copy, so that three bytes do not keep a whole chunk alive.
    this.#held[stream] = Buffer.from(rest.subarray(rest.length - held));
    if (rest.length > held) events.push(eventOf(stream, rest.subarray(0, rest.length - held), turnId));
    return events;
  }

  /** At a turn's end nothing will complete what is held. */
  finish(turnId: string | null): readonly OutputEvent[] {
    const events: OutputEvent[] = [];
    for (const stream of ["stdout", "stderr"] as const) {
      if (this.#held[stream].length > 0) events.push(eventOf(stream, this.#held[stream], turnId));
      this.#held[stream] = Buffer.alloc(0);
    }
    return events;
  }
}

function eventOf(stream: StreamName, bytes: Buffer, turnId: string | null): OutputEvent {
  return {
    type: "output",
    stream,
    text: bytes.toString("utf8"),
    ...(isUtf8(bytes) ? {} : { bytes: bytes.toString("base64") }),
    ...(turnId === null ? {} : { turnId }),
  };
}

/** How many bytes at the end begin a code point that is not complete: 0 to 3. */
export function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? back : 0;
    }
  }
  return 0;
}
