# Between the shim and the command where a run has preLaunch, postLaunch or several ranks: sources the one, runs the
# ranks, sources the other, and ends with the exit code of the rank that failed first, else 0. What preLaunch sets, the
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

# Prints the exit code of each rank when it ends. (What `wait` answers after a signal, shells do not agree on.)
_berth_ranks() {
  while [ "$_berth_count" -gt 0 ]; do
    _berth_count=$((_berth_count - 1))
    {
      trap : TERM HUP
      (exec "$@" >&7 2>&9 7>&- 9>&-)
      echo $?
    } &
  done
}

# A rank that a signal ended before it began prints none.
_berth_first_failure() {
  [ $# -lt "$_berth_count" ] && return 143
  for _berth_code; do
    [ "$_berth_code" -eq 0 ] || return "$_berth_code"
  done
}

[ "$_berth_pre" ] && _berth_source "$_berth_pre"
if [ "$_berth_count" -eq 1 ]; then
  { (exec "$@" 2>&9 9>&-); } 9>&2 2>/dev/null
else
  exec 7>&1 9>&2
  _berth_codes=$(_berth_ranks "$@" 2>/dev/null)
  exec 7>&- 9>&-
  _berth_first_failure $_berth_codes
fi
_berth_code=$?
[ "$_berth_post" ] && _berth_source "$_berth_post"
exit "$_berth_code"
