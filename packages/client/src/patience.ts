import { setTimeout as sleep } from "node:timers/promises";
import { ProtocolError, SILENT_DAEMON_NOTICE_MS, SILENT_DAEMON_TIMEOUT_MS } from "./protocol/index.ts";
import type { ErrorCode } from "./protocol/index.ts";

export interface Timeouts {
  /** Silence after which the caller is told. Default 2 s. */
  readonly noticeMs: number;
  /** Silence after which a call fails. Default 30 s. */
  readonly silentMs: number;
}
export const defaultTimeouts: Timeouts = { noticeMs: SILENT_DAEMON_NOTICE_MS, silentMs: SILENT_DAEMON_TIMEOUT_MS };

/** What is waited for: how it is said after `noticeMs`, and the error after `silentMs`. */
export interface Waiting {
  readonly code: Extract<ErrorCode, "daemon_not_responding" | "daemon_not_running">;
  readonly text: string;
  readonly hint: string;
}

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1_000;

/** Pause before attempt `attempt` (from 0): short, because a restart takes tens of milliseconds, then calm. */
export const backoffMs = (attempt: number): number => Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);

/** One call's bounded wait for a daemon: it says so once, then gives up; it never concludes that a silent one is gone (I138). */
export class Patience {
  readonly #timeouts: Timeouts;
  readonly #onNotice: ((text: string) => void) | undefined;
  #since = performance.now();
  #said = false;
  #attempt = 0;

  constructor(timeouts: Timeouts, onNotice?: (text: string) => void) {
    this.#timeouts = timeouts;
    this.#onNotice = onNotice;
  }

  get noticeMs(): number {
    return this.#timeouts.noticeMs;
  }

  /** A sign of life: the wait starts anew. */
  renew(): void {
    this.#since = performance.now();
    this.#said = false;
    this.#attempt = 0;
  }

  /** Waits for the next attempt; throws when the time is over. `said`: the caller has been told already what goes on. */
  async pause(
    waiting: Waiting,
    { signal, said = false }: { readonly signal?: AbortSignal | undefined; readonly said?: boolean } = {},
  ): Promise<void> {
    this.#check(waiting, said);
    const pauseMs = Math.min(backoffMs(this.#attempt++), Math.max(1, this.#timeouts.silentMs - this.#elapsed()));
    await sleep(pauseMs, undefined, signal ? { signal } : {}).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
  }

  /** The promise's value, or an error when the time is over first. */
  async during<T>(promise: Promise<T>, waiting: Waiting): Promise<T> {
    for (;;) {
      const limit = this.#said ? this.#timeouts.silentMs : this.#timeouts.noticeMs;
      const settled = await within(promise, Math.max(1, limit - this.#elapsed()));
      if (settled) return settled.value;
      this.#check(waiting);
    }
  }

  #elapsed(): number {
    return performance.now() - this.#since;
  }

  #check({ code, text, hint }: Waiting, said = false): void {
    const elapsed = this.#elapsed();
    if (elapsed >= this.#timeouts.silentMs)
      throw new ProtocolError(code, `${text} (waited ${Math.round(elapsed / 1_000)} s)`, { hint });
    if (elapsed < this.#timeouts.noticeMs || this.#said || said) return;
    this.#said = true;
    this.#onNotice?.(`${text}; waiting`);
  }
}

/** `undefined` when `delayMs` passes first; the promise goes on. */
export async function within<T>(promise: Promise<T>, delayMs: number): Promise<{ readonly value: T } | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, delayMs, undefined);
  });
  try {
    return await Promise.race([promise.then((value) => ({ value })), late]);
  } finally {
    clearTimeout(timer);
  }
}
