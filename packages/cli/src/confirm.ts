import type { Context } from "./context.ts";

/** Ctrl-C where it has a meaning of its own: its message is said, if there is one, and the exit status is 130. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** False where there is nobody to ask. Throws `Interrupted` with `untouched` on Ctrl-C. */
export async function confirmed({ io }: Context, question: string, untouched: string): Promise<boolean> {
  if (!io.stdin.isTTY || !io.stderr.isTTY) return false;
  let interrupt!: () => void;
  const interrupted = new Promise<never>((_resolve, reject) => {
    interrupt = () => reject(new Interrupted(`\n${untouched}`));
  });
  const listener = io.onSignal("SIGINT", interrupt);
  try {
    return /^y(es)?$/i.test(await Promise.race([io.ask(question), interrupted]));
  } finally {
    listener[Symbol.dispose]();
  }
}
