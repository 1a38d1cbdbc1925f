# Runs between the shim and the command if a run has preLaunch, postLaunch or several ranks: sources preLaunch, runs
# the ranks, sources postLaunch, and exits with the exit code of the rank that failed first, else 0. The ranks see all
# variables that preLaunch sets, exported or not. TERM is for the ranks; this shell waits for them, so that postLaunch
# comes last.
#
# The two scripts are sourced, so they may end this shell, by `exit` or by a failing command after `set -e`;
# then _berth_leave chooses the exit code. Options that they set with `set` apply only while they are read.

# For bash. Other shells exit at an unknown option, so a subshell tests it.
(set +o posix) 2>/dev/null && set +o posix
_berth_in=$1 _berth_pre=$2 _berth_post=$3 _berth_count=$4
shift 4
_berth_code=0 _berth_reading= _berth_options=$(set +o)
# Signals that a job may send to its group and survive.
_berth_signals='HUP INT QUIT ALRM USR1 USR2 PIPE VTALRM PROF XCPU'
trap : TERM $_berth_signals
trap _berth_leave EXIT

# A preLaunch that ends the job is a failure, because the command did not run. The exit code of a failed rank stays.
_berth_leave() {
  set -- "$?"
  case $_berth_reading in
    preLaunch*)
      printf 'berth: %s ended with code %s, before the command\n' "$_berth_reading" "$1" >&2
      [ "$1" -ne 0 ] || exit 126
      ;;
    postLaunch*) [ "$_berth_code" -eq 0 ] || exit "$_berth_code" ;;
  esac
}

_berth_fail() {
  printf 'berth: %s\n' "$1" >&2
  _berth_reading=
  exit 126
}

_berth_source() {
  [ -d "$2" ] && _berth_fail "$1 $2 is a directory"
  [ -r "$2" ] || _berth_fail "cannot read $1 $2"
  _berth_reading="$1 $2"
  set -a
  . "$2"
  _berth_last=$?
  eval "$_berth_options"
  # Ignores the status of the last command, unless it reports a syntax error.
  if [ "$_berth_last" -ne 0 ] && ! "${BASH:-/bin/sh}" -n "$2" 2>/dev/null; then
    _berth_fail "$1 $2 is not a script of a shell"
  fi
  _berth_reading=
}

# Prints the exit code of each rank when it ends. (Shells differ in the result of `wait` after a signal.) A new
# subshell has no traps: until it has set its own, signals from earlier ranks are ignored.
_berth_ranks() {
  trap '' $_berth_signals
  BERTH_RANK=0
  export BERTH_RANK
  while [ "$BERTH_RANK" -lt "$_berth_count" ]; do
    {
      trap : TERM $_berth_signals
      (exec "$@" <"${_berth_in:-/dev/null}" >&7 2>&9 7>&- 9>&-)
      echo "$?"
    } &
    BERTH_RANK=$((BERTH_RANK + 1))
  done
}

# A rank that a signal ended before its start has printed no code.
_berth_first_failure() {
  _berth_ended=0
  while IFS= read -r _berth_one; do
    [ "$_berth_one" ] || continue
    _berth_ended=$((_berth_ended + 1))
    [ "$_berth_code" -ne 0 ] || _berth_code=$_berth_one
  done
  [ "$_berth_ended" -eq "$_berth_count" ] || _berth_code=143
}

[ "$_berth_pre" ] && _berth_source preLaunch "$_berth_pre"
if [ "$_berth_count" -eq 1 ]; then
  { (exec "$@" 2>&9 9>&-); } 9>&2 2>/dev/null
  _berth_code=$?
else
  exec 7>&1 9>&2
  _berth_codes=$(_berth_ranks "$@" 2>/dev/null)
  exec 7>&- 9>&-
  _berth_first_failure <<EOF
$_berth_codes
EOF
fi
[ "$_berth_post" ] && _berth_source postLaunch "$_berth_post"
exit "$_berth_code"
