# Runs a command on the first node of a run, started by srun beside the run: with the environment of the file `job` (batch.sh), in
# the working directory of the run. $1: directory of the run, $2: `yes`: the command has a terminal, $3: enter.sh.
#
# Without a terminal srun passes output on line by line, or else makes the output a terminal. So the output is made a terminal
# without translations (srun --unbuffered), and `cat` copies to it: the command itself writes into a pipe.

PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH
dir=$1 terminal=$2 enter=$3
shift 3

# Uses a function, because the file sets the arguments.
read_job() {
  . "$dir/job"
}

fail() {
  printf 'berth: %s\n' "$1" >&2
  exit 126
}

[ -r "$dir/job" ] || fail 'the environment of the run is not there: the run is over, or began before an update of the server'
MASTER_ADDR=$SLURMD_NODENAME
export MASTER_ADDR
read_job
cd -- "$workdir" || fail 'cannot enter the working directory'
if [ "$terminal" ]; then
  step="-i -- TERM=xterm-256color ${step#-i -- }"
  exec /bin/sh -c "$enter" berth "$step" "$@"
fi
signals='HUP INT QUIT TERM USR1 USR2'
pipe=$dir/session.$SLURM_STEP_ID
mkfifo -m 600 "$pipe" || fail "cannot make a pipe in $dir"
exec 5<&0 9>&2 2>/dev/null
(trap '' $signals; exec cat 5<&- 9>&-) <"$pipe" &
reader=$!
exec >"$pipe"
rm -f "$pipe"

# Slurm signals this process, and only with some settings those that it started.
signal_command() {
  caught=yes
  [ -z "$pid" ] || kill "-$1" "-$pid" || kill "-$1" "$pid"
}
pid=
for each in $signals; do trap "signal_command $each" "$each"; done
find_reset
{
  trap - $signals
  exec setsid $reset /bin/sh -c "$enter" berth "$step" "$@" 2>&9 9>&-
} <&5 5<&- &
pid=$!
exec >&- 5<&- 9>&-
await "$pid"
wait "$reader"
exit "$code"
