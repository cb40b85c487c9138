import { join } from "node:path";

/** One call of a program to its world; `nth` of that name. */
export interface Moment {
  readonly when: "before" | "after";
  readonly call: string;
  readonly nth: number;
}

export interface Orders {
  readonly program: "supervisor" | "force-stop";
  readonly home: string;
  readonly workerProgram: string;
  /** The built one: what a worker with work starts when this one has died. */
  readonly supervisorProgram: string;
  /** Where the program and the test tell each other how far they are. */
  readonly directory: string;
  /** `null`: every moment is recorded and none stops it. */
  readonly stop: Moment | null;
}

export const files = (directory: string) => ({
  /** Made by the test: from here on moments count. */
  armed: join(directory, "armed"),
  /** The moments in their order, one a line. */
  record: join(directory, "record"),
  /** Made by the program: it stands at its moment. */
  reached: join(directory, "reached"),
  /** Milliseconds by which its clocks are ahead: `{ wallMs, monotonicMs }`. */
  clock: join(directory, "clock"),
});
