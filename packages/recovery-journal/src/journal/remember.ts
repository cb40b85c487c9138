import { REMEMBERED_MAX_BYTES } from "../format.ts";
import type { RememberedRequest } from "../types.ts";
import type { JournalState } from "./state.ts";

export interface RememberLimits {
  readonly count: number;
  readonly ageMs: number;
}

/** The window of the command line: 24 h or 10,000 per session, whichever is less. */
export const DEFAULT_REMEMBER: RememberLimits = { count: 10_000, ageMs: 24 * 60 * 60 * 1000 };

/** Forgets the oldest requests over the limits (I111); never one whose operation is open, or its end had nowhere to go. */
export function forgetOld(state: JournalState, limits: RememberLimits, now: number): void {
  let needed: Set<string> | null = null;
  for (const request of state.requests.values()) {
    if (state.requests.size <= limits.count && !isExpired(request, limits, now)) return;
    needed ??= requestsOfOpen(state);
    if (!needed.has(request.requestId)) state.requests.delete(request.requestId);
  }
}

/** Before a compaction: forgets the oldest settled requests until the rest fits beside the work of the largest segment. */
export function forgetToFit(state: JournalState): void {
  const sizes = [...state.requests.values()].map((request) => ({
    requestId: request.requestId,
    bytes: Buffer.byteLength(JSON.stringify(request)) + REQUEST_LINE_BYTES,
  }));
  let total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const needed = total > REMEMBERED_MAX_BYTES ? requestsOfOpen(state) : new Set();
  for (const { requestId, bytes } of sizes) {
    if (total <= REMEMBERED_MAX_BYTES) return;
    if (needed.has(requestId)) continue;
    state.requests.delete(requestId);
    total -= bytes;
  }
}

/** What a request's line has beyond the request's own JSON, at most. */
const REQUEST_LINE_BYTES = 64;

export function findRemembered(
  state: JournalState,
  requestId: string,
  window: { limits: RememberLimits; now: number },
): RememberedRequest | null {
  const request = state.requests.get(requestId);
  if (request === undefined) return null;
  const kept = !isExpired(request, window.limits, window.now) || requestsOfOpen(state).has(requestId);
  return kept ? request : null;
}

function isExpired(request: RememberedRequest, limits: RememberLimits, now: number): boolean {
  return request.at < now - limits.ageMs;
}

function requestsOfOpen(state: JournalState): Set<string> {
  const ids = new Set<string>();
  for (const entry of state.open.values()) if (entry.requestId !== null) ids.add(entry.requestId);
  return ids;
}
