import type { Duplex } from "node:stream";
import { ProtocolError, isErrorCode } from "./codes.ts";
import { MAX_LINE_BYTES } from "./limits.ts";
import { LineDecoder, encodeFrame, isObject, parseFrame } from "./frames.ts";
import type { Request, WireError } from "./frames.ts";

export interface PeerHandlers {
  /** Resolves with the result; a `ProtocolError` is answered with its code, anything else as `internal`. */
  readonly onRequest?: (method: string, params: unknown) => Promise<unknown>;
  readonly onNotification?: (method: string, params: unknown) => void;
  /** Once, when nothing more will be read. */
  readonly onClose?: () => void;
  /** An error that is a bug of ours: to be logged, already answered as `internal`. */
  readonly onBug?: (error: unknown) => void;
  readonly maxLineBytes?: number;
}

/** The connection ended before the answer came: whether the request had its effect is not known here. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

interface Waiter {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

const SERVER_ERROR = -32_000;

function toWire(error: unknown): WireError {
  if (!(error instanceof ProtocolError)) {
    const message = error instanceof Error ? error.message : String(error);
    return { code: SERVER_ERROR, message, data: { code: "internal" } };
  }
  const { code, message, hint, data } = error;
  return { code: SERVER_ERROR, message, data: { code, ...(hint ? { hint } : {}), ...(data ? { more: data } : {}) } };
}

function fromWire({ message, data = {} }: WireError): ProtocolError {
  const code = data["code"];
  const hint = data["hint"];
  const more = data["more"];
  return new ProtocolError(typeof code === "string" && isErrorCode(code) ? code : "internal", message, {
    ...(typeof hint === "string" ? { hint } : {}),
    ...(isObject(more) ? { data: more } : {}),
  });
}

/** JSON-RPC 2.0 over one byte stream, both ways. A malformed or endless line ends this connection and no other (I116). */
export class Peer {
  readonly #stream: Duplex;
  readonly #handlers: PeerHandlers;
  readonly #waiters = new Map<number | string, Waiter>();
  readonly #closeListeners: (() => void)[] = [];
  #nextId = 1;
  #holding = false;
  #closed = false;

  constructor(stream: Duplex, handlers: PeerHandlers = {}) {
    this.#stream = stream;
    this.#handlers = handlers;
    const decoder = new LineDecoder(handlers.maxLineBytes);
    stream.on("data", (chunk: Buffer) => {
      let lines: string[];
      try {
        lines = decoder.push(chunk);
      } catch (error) {
        this.#refuse(error instanceof Error ? error.message : "line too long");
        return;
      }
      for (const line of lines) if (!this.#closed) this.#receive(line);
    });
    // A broken socket ends as a close: there is nobody left to tell.
    stream.on("error", () => this.destroy());
    stream.on("close", () => this.#finish());
    stream.on("end", () => this.#finish());
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Calls once when nothing more will be read; at once if that is so already. */
  onClose(listener: () => void): void {
    if (this.#closed) queueMicrotask(listener);
    else this.#closeListeners.push(listener);
  }

  request(method: string, params: object, options: { signal?: AbortSignal } = {}): Promise<unknown> {
    if (this.#closed) return Promise.reject(new ConnectionLost("the connection is closed"));
    const { signal } = options;
    signal?.throwIfAborted();
    const id = this.#nextId++;
    const frame = encodeFrame({ id, method, params });
    // A longer line would end the connection, and look like a daemon that does not answer.
    if (Buffer.byteLength(frame) > (this.#handlers.maxLineBytes ?? MAX_LINE_BYTES))
      return Promise.reject(new ProtocolError("usage", "the request is too long for one line of the protocol"));
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiters.delete(id);
        reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
      };
      const settled =
        <T>(then: (value: T) => void) =>
        (value: T): void => {
          signal?.removeEventListener("abort", onAbort);
          then(value);
        };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiters.set(id, { resolve: settled(resolve), reject: settled(reject) });
      this.#stream.write(frame);
    });
  }

  /** False when the other side reads too slowly: wait for `drained` before more. */
  notify(method: string, params: object): boolean {
    return this.#closed || this.#stream.write(encodeFrame({ method, params }));
  }

  /** Whole lines, already encoded. */
  writeLines(bytes: Buffer | string): boolean {
    return this.#closed || this.#stream.write(bytes);
  }

  /** Resolves when what was written has left, or the connection ended. */
  drained(): Promise<void> {
    if (this.#closed || !this.#stream.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#stream.off("drain", done);
        this.#stream.off("close", done);
        resolve();
      };
      this.#stream.on("drain", done);
      this.#stream.on("close", done);
    });
  }

  /** Sends what is queued, then ends. */
  end(): void {
    if (!this.#closed) this.#stream.end();
  }

  destroy(): void {
    this.#stream.destroy();
    this.#finish();
  }

  #receive(line: string): void {
    if (line === "") return;
    const frame = parseFrame(line);
    switch (frame.kind) {
      case "malformed":
        this.#refuse(`malformed frame: ${frame.why}`);
        return;
      case "notification":
        this.#notice(frame.method, frame.params);
        return;
      case "response": {
        const waiter = this.#waiters.get(frame.id);
        this.#waiters.delete(frame.id);
        // A late answer to a request that was given up is no error.
        if ("error" in frame.outcome) waiter?.reject(fromWire(frame.outcome.error));
        else waiter?.resolve(frame.outcome.result);
        return;
      }
      case "request":
        void this.#answer(frame);
    }
  }

  /** A notification that its handler cannot take ends this connection, not the program. */
  #notice(method: string, params: unknown): void {
    try {
      this.#handlers.onNotification?.(method, params);
    } catch (error) {
      this.#handlers.onBug?.(error);
      this.destroy();
    }
  }

  async #answer({ id, method, params }: Request): Promise<void> {
    let reply: object;
    try {
      const handler = this.#handlers.onRequest;
      if (!handler) throw new ProtocolError("usage", `no method ${method}`);
      reply = { id, result: (await handler(method, params)) ?? null };
    } catch (error) {
      if (!(error instanceof ProtocolError)) this.#handlers.onBug?.(error);
      reply = { id, error: toWire(error) };
    }
    if (this.#closed || this.#stream.write(encodeFrame(reply))) return;
    // Whoever asks without reading the answers is not read on until it does (I116).
    if (this.#holding) return;
    this.#holding = true;
    this.#stream.pause();
    this.#stream.once("drain", () => {
      this.#holding = false;
      this.#stream.resume();
    });
  }

  #refuse(why: string): void {
    if (this.#closed) return;
    this.#stream.end(encodeFrame({ id: null, error: { code: -32_700, message: why } }));
    this.#finish();
  }

  #finish(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const { reject } of this.#waiters.values())
      reject(new ConnectionLost("the connection ended before the answer"));
    this.#waiters.clear();
    this.#handlers.onClose?.();
    for (const listener of this.#closeListeners) listener();
  }
}
