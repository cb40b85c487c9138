/** An error with what caused it, and what went wrong in the disposal behind it. */
export function reasonsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  const parts = [message, ...(cause === undefined ? [] : [reasonsOf(cause)])];
  if ("error" in error && "suppressed" in error) parts.push(reasonsOf(error.suppressed), reasonsOf(error.error));
  return parts.filter((part) => part !== "").join(": ");
}
