import type { ProcessObserver } from "../types.ts";
import { createObserver } from "./create.ts";

let made: ProcessObserver | null = null;

/** The one of whoever brings none: made at the first use, and the same from then on. */
export const defaultObserver = (): ProcessObserver => (made ??= createObserver());
