/** The end of one item on one stream. */
export interface Mark {
  readonly status: number;
  readonly directory: string;
}

export interface Split {
  /** Output bytes, in order, before the mark. */
  readonly before: readonly Buffer[];
  readonly mark: Mark | null;
  /** Output after the mark: of what still runs in the background. */
  readonly after: readonly Buffer[];
}

const NUL = 0;
/** A path is at most 4 KiB; what is longer cannot be a mark of ours. */
const MAX_MARK_BYTES = 16 * 1024;

/** Takes the marks out of one output stream, byte for byte, wherever chunks are cut. Holds back only what may be a mark's beginning. */
export class MarkSplitter {
  #held: Buffer = Buffer.alloc(0);

  /** `nonce: null`: no item runs, so everything is output. */
  push(chunk: Buffer, nonce: string | null): Split {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    if (nonce === null) return { before: pieces(bytes), mark: null, after: [] };
    const head = Buffer.from(`\0${nonce}:`, "latin1");
    for (let at = bytes.indexOf(NUL); at >= 0; at = bytes.indexOf(NUL, at + 1)) {
      const tail = bytes.subarray(at);
      const isHead = tail.subarray(0, head.length).equals(head.subarray(0, tail.length));
      if (!isHead) continue;
      const end = tail.length < head.length ? -1 : tail.indexOf(NUL, head.length);
      if (end < 0 && tail.length > MAX_MARK_BYTES) continue;
      if (end < 0) {
        this.#held = tail;
        return { before: pieces(bytes.subarray(0, at)), mark: null, after: [] };
      }
      const mark = parseMark(tail.subarray(head.length, end));
      if (mark) return { before: pieces(bytes.subarray(0, at)), mark, after: pieces(tail.subarray(end + 1)) };
    }
    return { before: pieces(bytes), mark: null, after: [] };
  }

  /** What was held back when the stream ended is output after all. */
  finish(): readonly Buffer[] {
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    return pieces(held);
  }
}

function parseMark(body: Buffer): Mark | null {
  const [, status, directory] = /^(\d{1,3}):([^]*)$/.exec(body.toString("utf8")) ?? [];
  return status === undefined || directory === undefined ? null : { status: Number(status), directory };
}

const pieces = (bytes: Buffer): readonly Buffer[] => (bytes.length === 0 ? [] : [bytes]);
