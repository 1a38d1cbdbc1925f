# Runs the command of a session with the environment and the working directory of the job.
#
# Over a WebSocket, a kubelet cannot close only the input of a command. So without a terminal the input is sent in pieces,
# each after a line with its length, and 0 ends it. If the input ends without 0, the server has died: the session ends.
#
# $1: `yes` with a terminal. $2: BERTH_SESSION=ID, which marks the processes of the command. $3: kill.sh. Then the command.
terminal=$1 session=$2 kill=$3 first=localhost
shift 3
read -r line </berth/run/command
[ "$line" = '# takes commands' ] || {
  echo 'An earlier version of the server started this run; commands cannot enter it' >&2
  exit 126
}
[ ! -s /berth/orders/begin ] || read -r first </berth/orders/begin
set -- /bin/sh /berth/run/command 0 "$first" env "$session" ${terminal:+TERM=xterm-256color} "$@"
[ -z "$terminal" ] || exec "$@"

/bin/sh -c '
  echo $$
  while read -r size; do
    [ "$size" -gt 0 ] || exit 0
    dd bs="$size" count=1 iflag=fullblock || exec cat >/dev/null
  done
  exec /bin/sh -c "$0" "$1" KILL
' "$kill" "$session" 2>/dev/null | {
  read -r feeder
  # Messages of the shell about its child are not output of the command.
  exec 9>&2 2>/dev/null
  ("$@" 2>&9 9>&-)
  code=$?
  kill -PIPE "$feeder"
  exit "$code"
}
