/**
 * The loop that bash runs. Descriptor 3 carries items `COMMAND NUL NONCE NUL`; 5 and 6 are the saved output and error, out of the
 * command's reach. The nonce is read only after the command has ended. After each item both streams carry
 * `NUL NONCE : STATUS : PWD NUL`, so a turn is over exactly when both were read.
 *
 * SIGINT unwinds the command and keeps the shell with its variables: the trap arms a DEBUG trap which, under `extdebug`, makes each
 * function return (status 2) until the loop itself is reached. Every builtin is called as such: a command may well define a function
 * called `read` or `printf`. An item that is empty drains what the command left of its input.
 */
export const SHELL_DRIVER = `
exec 5>&1 6>&2
__hf_dbg() { if ((\${#FUNCNAME[@]} > 1)); then builtin return 2; fi; builtin trap - DEBUG; builtin shopt -u extdebug; builtin return 0; }
__hf_run() { builtin eval -- "$1" 3<&- 5>&- 6>&-; }
__hf_drain() {
  while IFS= builtin read -r -t 0; do
    IFS= builtin read -r -N 4096 -t 0.05 __hf_input || [[ -n $__hf_input ]] || builtin return 0
  done
}
builtin trap 'builtin shopt -s extdebug; builtin trap __hf_dbg DEBUG' INT
while { IFS= builtin read -r -d '' -u 3 __hf_cmd; } 2>/dev/null; do
  if { [[ -z $__hf_cmd ]]; } 2>/dev/null; then __hf_drain; else __hf_run "$__hf_cmd"; fi
  {
    __hf_status=$?
    IFS= builtin read -r -d '' -u 3 __hf_nonce
    builtin printf '\\0%s:%d:%s\\0' "$__hf_nonce" "$__hf_status" "\${PWD-}" >&5
    builtin printf '\\0%s:%d:%s\\0' "$__hf_nonce" "$__hf_status" "\${PWD-}" >&6
    builtin unset __hf_nonce __hf_status
  } 2>/dev/null
done
`;

export const shellArguments: readonly string[] = ["--noprofile", "--norc", "-c", SHELL_DRIVER];

/** Neither part contains NUL: prompts with one are refused. */
export const encodeItem = (command: string, nonce: string): string => `${command}\0${nonce}\0`;
export const DRAIN_ITEM = "";
