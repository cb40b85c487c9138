import type { Readable } from "node:stream";
import { createInterface } from "node:readline";

/**
 * The next whole line, without white space around it; empty where the input has ended, ends before the line does, or is lost: only a
 * line that was finished is an answer.
 */
export function askLine(input: Readable): Promise<string> {
  // An end is said once: whoever asks after it would wait for nothing.
  if (input.readableEnded || input.destroyed) return Promise.resolve("");
  // Not a terminal interface: Ctrl-C must stay a signal.
  const lines = createInterface({ input, terminal: false });
  return new Promise((resolve) => {
    const answer = (line: string): void => {
      input.off("end", noAnswer);
      lines.close();
      resolve(line.trim());
    };
    const noAnswer = (): void => answer("");
    // Before the interface makes a line of what stood there when the input ended.
    input.prependListener("end", noAnswer);
    lines.once("error", noAnswer);
    lines.once("line", answer);
  });
}
