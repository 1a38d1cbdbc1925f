# Runs between the shim and the command if a run has stdinPath, stdoutPath or stderrPath, in the session and the cgroup
# of the job and as its account: opens the files and becomes the command. With stdoutPath or stderrPath it stays the
# parent of the command until the copies are written.

in=$1 out=$2 err=$3
shift 3
# Not exported: a job has a PATH only if its environment sets one.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# Signals that a job may send to its group.
signals='HUP INT QUIT ALRM USR1 USR2 PIPE VTALRM PROF XCPU'

# Copies output to stdoutPath and stderrPath to the spool as well.
copy_output() {
  pipes=$(mktemp -d) && mkfifo "$pipes/out" "$pipes/err" || return
  trap '' $signals TERM
  [ "$out" ] && true >"$out"
  [ "$err" ] && true >"$err"
  if [ "$out" ]; then
    tee -a "$out" <"$pipes/out" 2>&8 &
    copies=$!
    exec 1>"$pipes/out"
  fi
  if [ "$err" ]; then
    tee -a "$err" <"$pipes/err" >&8 2>&8 &
    copies="$copies $!"
    exec 8>"$pipes/err"
  fi
  trap 'stopped=yes' TERM
  trap : $signals
  rm -r "$pipes"
}

# Waits at most two seconds for the copies and then kills them, because leftover processes of the job may hold the pipes open.
finish_copies() {
  exec 1>&- 8>&-
  { sleep 2; kill -KILL $copies; } &
  wait $copies
}

launch() {
  exec 2>&8 8>&-
  [ "$in" ] && exec <"$in"
  exec "$@"
}

exec 8>&2 2>/dev/null
[ "$out$err" ] || launch "$@"
copies= stopped=
if ! copy_output; then
  printf 'berth: cannot make the pipes for stdoutPath and stderrPath\n' >&8
  exit 126
fi
[ "$stopped" ] && exit 143
(launch "$@")
code=$?
finish_copies
exit "$code"
