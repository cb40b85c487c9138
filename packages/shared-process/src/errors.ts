/**
 * An expected failure. Callers recognise it by `code`, a member of the throwing package's closed union; `data` is for
 * their message.
 */
export class CodedError<Code extends string = string> extends Error {
  readonly code: Code;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(
    code: Code,
    message: string,
    options: { readonly data?: Readonly<Record<string, unknown>>; readonly cause?: unknown } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "CodedError";
    this.code = code;
    this.data = options.data ?? {};
  }
}

/** Throws when a condition that only a bug can break is broken. On in production. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new CodedError("invariant_broken", `Invariant broken: ${message}`);
}

/** The error number's name (`ENOENT`) of a system error; `null` for anything else. */
export function errnoOf(error: unknown): string | null {
  if (typeof error !== "object" || error === null || !("code" in error)) return null;
  const { code } = error;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : null;
}

/** One line of text for anything that can be thrown. */
export function reasonOf(error: unknown): string {
  if (error instanceof Error) return error.message === "" ? error.name : error.message;
  return typeof error === "string" ? error : `a thrown ${error === null ? "null" : typeof error}`;
}

/** For an error of somebody's callback: it must show as uncaught, and not stop what called it. */
export function rethrowLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
