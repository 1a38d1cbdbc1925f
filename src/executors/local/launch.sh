# Between the shim and the command where a run has preLaunch, postLaunch or several ranks: sources the one, runs the
# ranks, sources the other, and ends with the exit code of the first rank that failed, else 0. What preLaunch sets, the
# ranks see, exported or not. TERM is for the ranks; this shell waits for them, so that postLaunch comes last.

_berth_pre=$1 _berth_post=$2 _berth_count=$3
shift 3
trap : TERM HUP

_berth_source() {
  if ! [ -r "$1" ]; then
    printf 'berth: cannot read %s\n' "$1" >&2
    exit 126
  fi
  set -a
  . "$1"
  set +a
}

# A status over 128 is the rank's, or says that TERM ended the wait: then the next wait tells the rank's own.
_berth_wait() {
  wait "$1"
  _berth_rank=$?
  while [ "$_berth_rank" -gt 128 ]; do
    wait "$1"
    _berth_again=$?
    [ "$_berth_again" -eq 127 ] && return
    [ "$_berth_again" -eq "$_berth_rank" ] && ! kill -0 "$1" && return
    _berth_rank=$_berth_again
  done
}

_berth_ranks() {
  _berth_pids=
  while [ "$_berth_count" -gt 0 ]; do
    (exec "$@" 2>&9 9>&-) &
    _berth_pids="$_berth_pids $!"
    _berth_count=$((_berth_count - 1))
  done
  _berth_code=0
  for _berth_pid in $_berth_pids; do
    _berth_wait "$_berth_pid"
    [ "$_berth_code" -eq 0 ] && _berth_code=$_berth_rank
  done
}

[ "$_berth_pre" ] && _berth_source "$_berth_pre"
if [ "$_berth_count" -eq 1 ]; then
  { (exec "$@" 2>&9 9>&-); _berth_code=$?; } 9>&2 2>/dev/null
else
  _berth_ranks "$@" 9>&2 2>/dev/null
fi
[ "$_berth_post" ] && _berth_source "$_berth_post"
exit "$_berth_code"
