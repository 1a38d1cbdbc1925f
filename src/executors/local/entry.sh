# Runs under the account of the job, because the server may be root. Exit code 3: the account cannot enter the working
# directory $1. Exit code 4: $2 is a search path without mpirun. The check of the files of the streams (paths.sh) follows.
# Missing and forbidden directories have the same exit code.
cd -P -- "$1" 2>/dev/null || exit 3

finds_mpirun() (
  IFS=:
  set -f
  for folder in $1; do
    [ -f "$folder/mpirun" ] && [ -x "$folder/mpirun" ] && return
  done
  return 4
)

[ ! "$2" ] || finds_mpirun "$2" || exit
shift 2
