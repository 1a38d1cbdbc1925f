# Run by the account of the job, because the server may be root: whether that account can enter the working directory $1
# (else exit code 3) and, unless $2 is empty, finds mpirun in the search path $2 (else exit code 4). The check of the files
# of the streams (paths.sh) follows. A missing directory and a forbidden one are the same answer.
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
