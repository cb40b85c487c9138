# Runs as the first process of a pid namespace: `ps --force-stop --all` ends every daemon of the user that it can see.
# $1: an empty directory. Each result is one line: its name, a tab, its value.
set -eu
root=$1
cd "$root"

agent() { $AGENT "$@"; }
result() { printf '%s\t%s\n' "$1" "$2"; }
field() { node -p 'JSON.parse(require("fs").readFileSync(0, "utf8"))'"$1"; }
pid_of() { agent session show "$2" --json --home "$1" | field .pid; }
# Until the condition holds; the commands after it would find what they are to find, or fail.
until_true() { for _ in $(seq 1200); do if eval "$1"; then return 0; fi; sleep 0.05; done; echo "never: $1" >&2; exit 9; }
in_maintenance() { grep -qs '"phase":"maintenance"' "$1"/owner/*.json; }
# Nothing else runs in this namespace but this script.
running() { grep -alsE '^(holdfastd|\./tmux|sleep|bash.--noprofile)|worker\.js' /proc/[0-9]*/cmdline | cut -d/ -f3 | paste -sd ' '; }
export XDG_CONFIG_HOME=$root/config

for home in a b; do
  agent new --name frozen --home "$home" > /dev/null
  agent new --name healthy --home "$home" > /dev/null
  agent prompt healthy --no-wait 'sleep 600' --home "$home" 2> /dev/null
done
agent new --name leaves --home a > /dev/null
agent prompt leaves 'cp "$(command -v sleep)" tmux; setsid ./tmux 600 > /dev/null 2>&1 &' --home a
agent stop leaves --home a > /dev/null
kill -STOP "$(pid_of a frozen)" "$(pid_of b frozen)" "$(agent daemon status --quiet --home b)"
result before "$(agent ps --json --home a)"
tmux_pid=$(grep -als '^./tmux' /proc/[0-9]*/cmdline | cut -d/ -f3)
result tmux "$tmux_pid"
result running "$(running | wc -w)"

# This home alone, while a daemon is started.
agent new --name frozen --home c > /dev/null
kill -STOP "$(pid_of c frozen)"
$AGENT ps --force-stop --yes --json --home c > c.json 2> c.err &
stopping=$!
until_true 'in_maintenance c'
agent daemon start --json --home c > started.json 2> /dev/null && result started 0 || result started $?
wait $stopping && result one_code 0 || result one_code $?
result one "$(cat c.json)"
result one_said "$(grep '^not touched' c.err | paste -sd ';')"
result one_state "$(agent session show frozen --json --home c | field .state)"
result between "$(agent ps --json --home a)"

# One that is killed at its work holds nothing.
agent session resume frozen --home c > /dev/null
kill -STOP "$(pid_of c frozen)"
$AGENT ps --force-stop --yes --json --home c > /dev/null 2>&1 &
stopping=$!
until_true 'in_maintenance c'
kill -KILL $stopping
wait $stopping || true
agent daemon start --json --home c > /dev/null 2>&1 && result after_kill 0 || result after_kill $?

agent ps --force-stop --all --yes --json --home a > all.json 2> all.err && result all_code 0 || result all_code $?
result all "$(cat all.json)"
result all_said "$(grep -c '^not touched' all.err)"
result after "$(agent ps --json --home a)"
result left "$(running)"
