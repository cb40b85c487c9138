/** In the environment of supervisors and workers. */
export const HOME_NAME = "HOLDFAST_HOME";
/** In the environment of each worker, so that a signal can be tied to its launch. Agents do not inherit it. */
export const GENERATION_NAME = "HOLDFAST_GENERATION";
/** In the environment of agents and what they start: the marker of their launch. */
export const MARKER_NAME = "HOLDFAST_SESSION";
