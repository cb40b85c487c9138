import { constants } from "node:fs";
import { CodedError, reasonOf } from "@holdfast/shared-process";
import { openLineLog } from "@holdfast/recovery-journal";
import type { FileSystem, LineLog } from "@holdfast/recovery-journal";
import type { EventBody, SessionEvent } from "@holdfast/client/protocol";
import { formatCursor } from "./cursor.ts";
import type { Cursor } from "./cursor.ts";
import { lastHead, transcriptAt } from "./transcript-file.ts";

export interface WriterOptions {
  readonly path: string;
  readonly sessionId: string;
  readonly generation: string;
  readonly fs: FileSystem;
  readonly engine: "inline" | "pool";
  readonly now: () => number;
}

/** The one appender of a transcript. Sequences go on behind the last durable line, whoever wrote it. */
export class TranscriptWriter implements Disposable {
  readonly #options: WriterOptions;
  readonly #log: LineLog;
  readonly #listeners = new Set<(event: SessionEvent, line: string) => void>();
  #last: Cursor | null;
  /** The flush that runs, or the last one; and the one that callers of this moment wait for. */
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  /** What was found may have been written by somebody who ended before the flush. */
  #dirty = true;
  #disposed = false;
  /** For flushes outside the loop: fdatasync of any descriptor flushes the file. `null` with the inline engine. */
  readonly #flushFd: number | null;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#log = openLineLog({ path: options.path, fs: options.fs });
    const { O_RDONLY, O_NOFOLLOW } = constants;
    try {
      this.#last = lastHead(transcriptAt(options.path, options.fs));
      this.#flushFd = options.engine === "pool" ? options.fs.open(options.path, O_RDONLY | O_NOFOLLOW) : null;
    } catch (error) {
      this.#log.close();
      throw error;
    }
  }

  get path(): string {
    return this.#options.path;
  }

  get size(): number {
    return this.#log.size;
  }

  get end(): Cursor | null {
    return this.#last;
  }

  onEvent(listener: (event: SessionEvent, line: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  append(body: EventBody): SessionEvent {
    const { generation, sessionId, now } = this.#options;
    const next: Cursor = { generation, sequence: (this.#last?.sequence ?? 0) + 1 };
    // `cursor` and `type` first: heads are read without parsing.
    const { type, ...rest } = body;
    const at = new Date(now()).toISOString();
    const line = JSON.stringify({ cursor: formatCursor(next), type, at, sessionId, ...rest });
    this.#log.append(line);
    this.#last = next;
    this.#dirty = true;
    const event: SessionEvent = { cursor: formatCursor(next), at, sessionId, ...body };
    for (const listener of this.#listeners) listener(event, line);
    return event;
  }

  /** Readers open it by its name: one that was taken away is given back, with all that was written. Throws as `LineLog.keepName`. */
  keepName(): void {
    // With the pool a flush of the old file may be on its way; that engine's writers follow each other within seconds.
    if (this.#flushFd === null) this.#log.keepName();
  }

  /** Durable up to what was appended before the call; callers of one turn of the loop share a flush, and flushes do not overlap. */
  sync(): Promise<void> {
    this.#next ??= this.#flushAfter(this.#running);
    return this.#next;
  }

  async #flushAfter(earlier: Promise<void>): Promise<void> {
    // A flush that failed has poisoned the file: those who come after it hear the same.
    await earlier;
    // From here on a new caller needs a new flush: what it appended may come after this one began.
    this.#running = this.#next ?? earlier;
    this.#next = null;
    if (!this.#dirty) return;
    this.#dirty = false;
    if (this.#flushFd === null) this.#log.sync();
    else await this.#flushOutside(this.#flushFd);
  }

  async #flushOutside(fd: number): Promise<void> {
    try {
      await this.#options.fs.fdatasyncAsync(fd);
    } catch (cause) {
      // What was lost is not known: nothing more may be promised on top of it.
      this.#log.close();
      throw new CodedError("log_poisoned", `a flush of the transcript failed: ${reasonOf(cause)}`, { cause });
    }
  }

  [Symbol.dispose](): void {
    this.#log.close();
    if (this.#flushFd !== null && !this.#disposed) this.#options.fs.close(this.#flushFd);
    this.#disposed = true;
  }
}
