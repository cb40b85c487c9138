import { connect } from "node:net";
import type { Socket } from "node:net";
import { encodeFrame, parseFrame } from "@holdfast/client/protocol";
import type { AttachEnding } from "@holdfast/client/protocol";
import { helloSchema } from "@holdfast/session-worker/transport";
import type { Authenticate } from "@holdfast/session-worker/transport";

const NEWLINE = 0x0a;
const ENDED = Buffer.from('{"jsonrpc":"2.0","method":"session/attach_ended"');

export interface RelayOrder {
  readonly socketPath: string;
  readonly authenticate: Authenticate;
  readonly attach: object;
  /** Takes whole lines; the worker is not read on until it resolves, so that neither side buffers for a slow viewer (I149). */
  readonly sink: (lines: Buffer) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Streams one attachment from a worker without reading its events. Resolves with why it ended; a lost worker is `reattach`. */
export function relay(order: RelayOrder): Promise<AttachEnding> {
  return new Promise((resolve) => {
    const socket = connect(order.socketPath);
    const stop = (): void => void socket.destroy();
    order.signal.addEventListener("abort", stop, { once: true });
    let ending: AttachEnding = "reattach";
    const lines = new Relayed(socket, order, (reason) => (ending = reason));
    socket.on("data", (chunk: Buffer) => lines.take(chunk));
    socket.on("error", stop);
    socket.on("close", () => {
      order.signal.removeEventListener("abort", stop);
      void lines.flushed().then(() => resolve(ending));
    });
    socket.write(encodeFrame({ id: 1, method: "authenticate", params: order.authenticate }));
  });
}

class Relayed {
  readonly #socket: Socket;
  readonly #order: RelayOrder;
  readonly #onEnd: (reason: AttachEnding) => void;
  /** Answers still awaited, first `authenticate`, then `session/attach`; after them every line is an event. */
  #phase: "authenticate" | "attach" | "events" = "authenticate";
  #rest: Buffer = Buffer.alloc(0);
  #written: Promise<void> = Promise.resolve();

  constructor(socket: Socket, order: RelayOrder, onEnd: (reason: AttachEnding) => void) {
    this.#socket = socket;
    this.#order = order;
    this.#onEnd = onEnd;
  }

  flushed(): Promise<void> {
    return this.#written;
  }

  take(chunk: Buffer): void {
    let bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    while (this.#phase !== "events") {
      const end = bytes.indexOf(NEWLINE);
      if (end < 0) break;
      this.#answer(bytes.subarray(0, end).toString("utf8"));
      bytes = bytes.subarray(end + 1);
    }
    const end = this.#phase === "events" ? bytes.lastIndexOf(NEWLINE) : -1;
    this.#rest = bytes.subarray(end + 1);
    if (end >= 0) this.#forward(bytes.subarray(0, end + 1));
  }

  #answer(line: string): void {
    const frame = parseFrame(line);
    if (frame.kind !== "response" || "error" in frame.outcome) {
      this.#socket.destroy();
      return;
    }
    if (this.#phase === "attach") {
      this.#phase = "events";
      return;
    }
    const hello = helloSchema.safeParse(frame.outcome.result);
    if (!hello.success || hello.data.kind !== "hello") {
      this.#socket.destroy();
      return;
    }
    this.#phase = "attach";
    this.#socket.write(encodeFrame({ id: 2, method: "session/attach", params: this.#order.attach }));
  }

  #forward(lines: Buffer): void {
    const lastStart = lines.lastIndexOf(NEWLINE, lines.length - 2) + 1;
    const ended = lines.subarray(lastStart, lastStart + ENDED.length).equals(ENDED);
    if (ended) {
      this.#onEnd(lines.includes('"reattach"', lastStart) ? "reattach" : "end");
      this.#socket.destroy();
    }
    const events = ended ? lines.subarray(0, lastStart) : lines;
    if (events.length === 0) return;
    this.#socket.pause();
    this.#written = this.#written.then(() => this.#order.sink(events)).then(() => void this.#socket.resume());
  }
}
