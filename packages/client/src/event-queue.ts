import type { Socket } from "node:net";
import { attachEndings } from "./protocol/index.ts";
import type { AttachEnding, SessionEvent } from "./protocol/index.ts";

/** Events held before the socket is paused: a chunk of the socket may bring more, the kernel's buffer holds the rest. */
const PAUSE_AT = 64;

/** The events of one connection, taken one by one; the socket is read only while the taker keeps up. */
export class EventQueue {
  #events: SessionEvent[] = [];
  #taken = 0;
  #socket: Socket | null = null;
  #wake: (() => void) | null = null;
  #ending: AttachEnding | "lost" | null = null;

  /** Why `next` answered `null`. */
  get ending(): AttachEnding | "lost" | null {
    return this.#ending;
  }

  flowThrough(socket: Socket): void {
    this.#socket = socket;
  }

  receive(method: string, params: unknown): void {
    if (this.#ending) return;
    if (method === "session/event" && isEvent(params)) {
      this.#events.push(params);
      if (this.#events.length - this.#taken >= PAUSE_AT) this.#socket?.pause();
      this.#notify();
    } else if (method === "session/attach_ended") {
      this.#ending = readEnding(params);
      this.#notify();
    }
  }

  lost(): void {
    this.#ending ??= "lost";
    this.#notify();
  }

  /** The next event; `null` after the last. What came before the end is delivered first. */
  async next(): Promise<SessionEvent | null> {
    for (;;) {
      const event = this.#events[this.#taken];
      if (event) {
        this.#taken += 1;
        if (this.#taken === this.#events.length) this.#drained();
        return event;
      }
      if (this.#ending) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #drained(): void {
    this.#events = [];
    this.#taken = 0;
    this.#socket?.resume();
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}

/** Types and fields of later daemons pass through (I26); what every event has is checked. */
function isEvent(value: unknown): value is SessionEvent {
  if (typeof value !== "object" || value === null) return false;
  return "type" in value && typeof value.type === "string" && "cursor" in value && typeof value.cursor === "string";
}

function readEnding(params: unknown): AttachEnding {
  const reason = typeof params === "object" && params !== null && "reason" in params ? params.reason : null;
  // An ending of a later protocol: attaching again is always safe.
  return attachEndings.find((known) => known === reason) ?? "reattach";
}
