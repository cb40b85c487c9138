# An innocent process that logs every signal that a shell can catch, by its number. $1: the log; $2: what it is.
#   leader    of a session and a group, with a member in them, which logs too
#   leaving   leads them only until the member is there: what is left is a group without a process of its number
#   member    has a child that catches nothing, whose end is logged as well
log=$1 part=$2
for number in {1..64}; do
  # SIGKILL and SIGSTOP cannot be caught, the C library keeps 32 and 33, and 17 says that a child ended.
  case $number in 9 | 17 | 19 | 32 | 33) ;; *) trap "echo $number >> '$log'" "$number" ;; esac
done
if [[ $part == member ]]; then
  sleep infinity &
else
  # What a shell starts in the background ignores these two otherwise, for good.
  (trap - INT QUIT && exec bash --noprofile --norc "$0" "$log.member" member) &
fi
if [[ $part == leaving ]]; then
  until [[ -s $log.member ]]; do :; done
  exit
fi
echo "ready $$" >> "$log"
while kill -0 $! 2> /dev/null; do wait $!; done
echo "its child ended" >> "$log"
