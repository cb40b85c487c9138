/** The fields of a session's row that tests look at (CLI.md §5). */
export interface SessionRow {
  readonly sessionId: string;
  readonly name: string | null;
  readonly cwd: string;
  readonly lifecycle: string;
  readonly state: string;
  readonly activity: string;
  readonly pid: number | null;
  readonly generation: string | null;
  readonly reason: string | null;
  readonly openOperations: number;
  readonly created?: boolean;
  readonly killAt?: string;
}

/** An event line; each type has more fields than these. */
export interface Event {
  readonly type: string;
  readonly cursor: string;
  readonly sessionId: string;
  readonly text?: string;
  readonly stream?: string;
  readonly actionId?: string;
  readonly turnId?: string;
  readonly stopReason?: string;
  readonly exitCode?: number;
  readonly outcome?: string;
  readonly operations?: readonly { readonly operationId: string; readonly kind: string; readonly title: string }[];
}

// The tests trust the contract: what does not fit it fails in their assertions.
export function parseRow(text: string): SessionRow {
  const row: SessionRow = JSON.parse(text);
  return row;
}

export function parseRows(text: string): readonly SessionRow[] {
  const answer: { readonly sessions: readonly SessionRow[] } = JSON.parse(text);
  return answer.sessions;
}

export const parseEvents = (text: string): Event[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const event: Event = JSON.parse(line);
      return event;
    });

/** What the session's commands printed, as one text. */
export const outputOf = (events: readonly Event[]): string =>
  events
    .filter(({ type }) => type === "output")
    .map(({ text = "" }) => text)
    .join("");

/** The JSON lines on standard error that say what went wrong. */
export const errorLines = (stderr: string): { readonly code: string }[] =>
  stderr
    .split("\n")
    .filter((text) => text.startsWith('{"error"'))
    .map((line) => {
      const { error }: { readonly error: { readonly code: string } } = JSON.parse(line);
      return error;
    });

/** The code in the one JSON line on standard error. */
export const errorCode = (stderr: string): string | undefined => errorLines(stderr)[0]?.code;
