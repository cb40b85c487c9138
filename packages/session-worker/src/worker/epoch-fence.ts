import { createHash, timingSafeEqual } from "node:crypto";
import { WORKER_PROTOCOL_VERSION } from "../transport/messages.ts";
import type { Authenticate, WorkerHello, WorkerOrders } from "../transport/messages.ts";

export type Admittance = { readonly kind: "admitted" } | Extract<WorkerHello, { kind: "refused" }>;

/** Who may talk to this worker: its token and generation, and of those the newest supervisor that ever proved itself. */
export class EpochFence {
  readonly #orders: WorkerOrders;
  #highest: number;

  constructor(orders: WorkerOrders) {
    this.#orders = orders;
    this.#highest = orders.epoch;
  }

  admit({ protocol, token, sessionId, generation, epoch }: Authenticate): Admittance {
    // The token first: nothing is told to a stranger.
    if (!sameText(token, this.#orders.token)) return { kind: "refused", why: "token" };
    if (sessionId !== this.#orders.sessionId || generation !== this.#orders.generation)
      return { kind: "refused", why: "generation" };
    // Before the protocol: whatever it speaks, it owns the home, or hears that it no longer does (I165).
    if (epoch < this.#highest) return { kind: "refused", why: "stale_epoch", epoch: this.#highest };
    this.#highest = epoch;
    if (protocol !== WORKER_PROTOCOL_VERSION)
      return { kind: "refused", why: "protocol", protocol: WORKER_PROTOCOL_VERSION };
    return { kind: "admitted" };
  }

  isCurrent(epoch: number): boolean {
    return epoch === this.#highest;
  }
}

/** In constant time for equal lengths and others alike: digests are compared. */
function sameText(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
