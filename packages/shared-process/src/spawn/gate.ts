import { Socket } from "node:net";

const GATE_FD = 3;
/** With the newline. An environment and a few paths; far above what the kernel lets a program start with. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * In the child: waits for the one line of `openGate`. `null` means that the parent let go without a word, or died in
 * the middle of it; the
 * program must then end at once, since nobody has recorded it.
 */
export function awaitGate(fd: number = GATE_FD): Promise<string | null> {
  return new Promise((resolve) => {
    let gate: Socket;
    try {
      gate = new Socket({ fd, readable: true, writable: false });
    } catch {
      // No such descriptor: the program was not started through a gate, which is the same as no word.
      resolve(null);
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (word: string | null): void => {
      resolve(word);
      gate.destroy();
    };
    gate.on("data", (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > MAX_MESSAGE_BYTES) end(null);
    });
    gate.once("error", () => end(null));
    gate.once("end", () => end(lineOf(Buffer.concat(chunks).toString("utf8"))));
  });
}

function lineOf(text: string): string | null {
  return text.endsWith("\n") ? text.slice(0, -1) : null;
}
