import { randomBytes, randomUUID } from "node:crypto";
import type { Ids } from "./types.ts";

const TOKEN_BYTES = 32;
const COUNTER_LIMIT = 0x1000;

/**
 * UUIDv7 of RFC 9562 with its method 1: a counter in `rand_a`, so that ids of one millisecond, or of a clock set back,
 * keep their order.
 */
export function createIdSource(now: () => number): () => string {
  let lastMs = 0;
  let counter = 0;
  return () => {
    const ms = now();
    if (ms > lastMs) {
      lastMs = ms;
      // The upper half of the range stays free for ids of the same millisecond.
      counter = randomBytes(2).readUInt16BE() & 0x7ff;
    } else if (++counter === COUNTER_LIMIT) {
      lastMs += 1;
      counter = 0;
    }
    const time = lastMs.toString(16).padStart(12, "0");
    const random = randomBytes(8);
    random[0] = 0x80 | ((random[0] ?? 0) & 0x3f);
    const tail = random.toString("hex");
    const order = counter.toString(16).padStart(3, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-7${order}-${tail.slice(0, 4)}-${tail.slice(4)}`;
  };
}

export const systemIds: Ids = {
  newId: createIdSource(() => Date.now()),
  newGeneration: () => randomUUID(),
  newToken: (bytes = TOKEN_BYTES) => randomBytes(bytes).toString("base64url"),
};
