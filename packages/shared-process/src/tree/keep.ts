/** Programs that are meant to outlive whoever started them. */
export const defaultKeep: readonly string[] = ["tmux", "screen", "gpg-agent", "ssh-agent"];

const COMMAND_BYTES = 15;

/** tmux calls itself `tmux: server`, screen `SCREEN`, and the kernel cuts names after 15 bytes. */
export function isKept(command: string, keep: readonly string[]): boolean {
  return keep.some((name) => {
    const short = name.slice(0, COMMAND_BYTES);
    return command === short || command.startsWith(`${name}:`) || command === short.toUpperCase();
  });
}
