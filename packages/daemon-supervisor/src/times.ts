/** A disk that stands still must not keep the daemon from ending: what is not released by then is claimed by proof of its end. */
export const RELEASE_MS = 2_000;
export { DEGRADED_MS } from "./lifecycle/times.ts";
