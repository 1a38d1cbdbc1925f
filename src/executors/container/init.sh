# The first process of a container whose image has a shell: runs the command as its child and exits with its exit code.
# The kernel delivers a signal to a first process only if it has a handler, so a command alone would not receive TERM.
# TERM goes to all processes of the container. Messages of the shell about its child are not output of the job.
#
# limit: seconds after which the run ends if no server ends it; 0: no maximum run time. display: the pipe that tells the X11
# display of the run that this process is alive (display.sh); '': no display. note: the file for the end (run-files.ts).

limit=$1 grace=$2 display=$3 note=$4
shift 4
asked=
trap 'caught=yes; asked=" TERM"; kill -TERM -1' TERM
exec 9>&2 2>/dev/null
echo >"$note"
if [ -n "$display" ]; then
  exec 8<>"$display"
  echo >&8
fi
# A stop sends TERM as soon as this process has a child, so the command must be the first one. `env` would take a command with
# `-` or `=` for an option or a variable.
(
  trap - INT QUIT
  find_reset
  case $1 in -* | *=*) reset= ;; esac
  exec $reset "$@" 2>&9 8>&- 9>&-
) &
child=$!
if [ "$limit" -gt 0 ]; then
  # A job that ends this sleep only loses the fallback.
  (trap '' TERM; sleep "$limit" || exit; kill -TERM -1; sleep "$grace"; kill -KILL -1) >/dev/null 9>&- &
fi
await "$child"
echo "ended$asked $code" >"$note"
exit "$code"
