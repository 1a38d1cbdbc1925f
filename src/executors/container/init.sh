# The first process of a container whose image has a shell: runs the command as its child and exits with its exit code.
# The kernel delivers a signal to a first process only if it has a handler, so a command alone would not receive TERM.
# TERM is for all processes of the container. Messages of the shell about its child are not output of the job.

trap 'kill -TERM -1' TERM
exec 9>&2 2>/dev/null
(exec "$@" 2>&9 9>&-) &
child=$!
while :; do
  wait "$child"
  code=$?
  kill -0 "$child" || exit "$code"
done
