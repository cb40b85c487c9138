import type { Peer } from "@holdfast/client/protocol";
import { attachFrom } from "@holdfast/client/protocol";
import type { AttachEnding } from "@holdfast/client/protocol";
import { replayFrom } from "../transport/read-transcript.ts";
import type { TranscriptLine } from "../transport/read-transcript.ts";
import { linesOf, transcriptAt } from "../transport/transcript-file.ts";
import type { SessionStore } from "../transport/store-contract.ts";

/** Bytes handed to one viewer's socket at a time; no more is ever queued for it (but one event is never cut). */
const CHUNK_CHARACTERS = 64 * 1024;
const PREFIX = '{"jsonrpc":"2.0","method":"session/event","params":';

export interface ViewerOptions {
  readonly peer: Peer;
  readonly store: SessionStore;
  readonly from: string | undefined;
  readonly follow: boolean;
}

/**
 * One attachment. Every event comes from the transcript file, also live ones, so a viewer that stops reading costs one chunk and
 * nobody waits for it (I149): it goes on where it was when its socket drains.
 */
export class Viewer {
  readonly #options: ViewerOptions;
  readonly #position: number;
  readonly #replay: Iterable<TranscriptLine>;
  #wake: (() => void) | null = null;
  #ending: AttachEnding | null = null;
  #running: Promise<void> | null = null;

  /** Throws `ProtocolError("usage")` for a text that is no cursor. */
  constructor(options: ViewerOptions) {
    this.#options = options;
    const { store, from } = options;
    const path = store.transcriptPath;
    const replay =
      from === attachFrom.now
        ? { offset: store.transcriptSize, lines: [] }
        : replayFrom({ path, ...(from === undefined ? {} : { from }) });
    this.#position = replay.offset;
    this.#replay = replay.lines;
    if (!options.follow) this.#ending = "end";
  }

  /** Ends what follows, once everything that is written was sent. */
  end(ending: AttachEnding): void {
    this.#ending ??= ending;
    this.wake();
  }

  wake(): void {
    this.#wake?.();
  }

  /** Resolves when there is nothing more to send, or nobody to send it to. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    const { peer, store } = this.#options;
    let position = this.#position;
    // The first pass begins at the cursor and may name a gap; later ones go on from a place in the file.
    position = await this.#send(this.#replay, position);
    while (!peer.closed) {
      const { transcriptSize } = store;
      if (position < transcriptSize) {
        const before = position;
        position = await this.#send(linesOf(transcriptAt(store.transcriptPath), position, transcriptSize), position);
        // The file is not what was written: nothing more can be read from here, and trying again would never end.
        if (position === before) return this.#leave("reattach");
      } else if (this.#ending) {
        return this.#leave(this.#ending);
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        this.#wake = null;
      }
    }
  }

  #leave(reason: AttachEnding): void {
    this.#options.peer.notify("session/attach_ended", { reason });
  }

  /** Sends lines and returns the place behind the last one. */
  async #send(lines: Iterable<{ readonly line: string; readonly end: number }>, from: number): Promise<number> {
    const { peer } = this.#options;
    let position = from;
    let chunk = "";
    for (const { line, end } of lines) {
      if (peer.closed) return position;
      position = end;
      // An empty line is damage that the replay has named, or will.
      if (line !== "") chunk += `${PREFIX}${line}}\n`;
      if (chunk.length < CHUNK_CHARACTERS) continue;
      await this.#write(chunk);
      chunk = "";
    }
    if (chunk !== "") await this.#write(chunk);
    return position;
  }

  async #write(chunk: string): Promise<void> {
    const { peer } = this.#options;
    if (!peer.writeLines(chunk)) await peer.drained();
    // Sockets that drain at once must not keep the loop from everybody else.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
