# The first process of a container whose image has a shell: runs the command as its child and ends with its exit code. The
# kernel hands no signal to a first process that does not ask for it, so a command alone would not see TERM. TERM is for
# everything in the container. What the shell has to say of its child is not output of the job.

trap 'kill -TERM -1' TERM
exec 9>&2 2>/dev/null
(exec "$@" 2>&9 9>&-) &
child=$!
while :; do
  wait "$child"
  code=$?
  kill -0 "$child" || exit "$code"
done
