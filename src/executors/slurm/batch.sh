# The batch script of a run; Slurm runs it on the first node of the job. It has no argument and no secret: the command and its
# environment are in the file `job` of the directory of the run, which only the account of the run may enter. Sessions read the
# file too (session.sh), until the run ends. Two lines before the script set `dir` and `blocks`.
#
# The script reports by symbolic links in that directory. A link is created atomically, by one machine only, also on a network
# file system, and needs no space on a full disk. The text of a link is the record:
#   claim job ID NODE     this Slurm job runs the run. A second Slurm job of the same run finds the link and ends. Berth
#                         creates it too (`void`, `refused …`) for a run that must not start any more.
#   begun NODES GPUS MS   the command begins now; MS: the clock of this node, in milliseconds since 1970. Slurm's times are of
#                         the clocks of the cluster, those of the links of the clock of the file system
#   workdir INODE PATH    the working directory of a run with output files
#   again NODE            Slurm requeued the job, so it had ended the run. The script does nothing then
#   full.STREAM.N SIZE    output was lost after SIZE bytes of the stream: the disk was full
#   over.STREAM BYTES     the stream exceeded its limit; BYTES of it were dropped
#   exit CODE WHY USED    the command ended, and its output is in the files; WHY: `term`, after a TERM; `late`, after a TERM at
#                         the time limit of the Slurm job; or -. USED: microseconds of processor time and the peak of memory
#                         in bytes, each - if unknown
#   exit failed REASON …  the command cannot begin
# The script ends with the recorded exit code. The job can write records too, so Slurm's report takes precedence if it has
# another code, or a running job (observation.ts).
#
# TERM requests the end, and is passed on to the command. USR1 requests KILL for the command. Both come from `scancel --batch`,
# which does not signal the readers of the output, so the last bytes are kept.

PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH
pid='' term=- caught='' killed='' started=0 limit=0 forward=yes cpu=- memory=- ticks=0
trap 'caught=yes; asked_to_end' TERM
trap 'caught=yes killed=yes; signal_command KILL' USR1
trap '' HUP INT XFSZ

uptime() {
  up=0
  [ -r /proc/uptime ] && read -r up rest </proc/uptime
  up=${up%.*}
}

# Slurm's time starts a little earlier than this script.
asked_to_end() {
  uptime
  if [ "$limit" -gt 0 ] && [ $((up - started + 5)) -ge "$limit" ]; then term=late; else term=term; fi
  [ "$forward" ] || return 0
  signal_command TERM
  signal_command CONT
}

signal_command() {
  [ "$pid" ] || return 0
  kill "-$1" "-$pid" || kill "-$1" "$pid"
}

# Processor time of ended children of this script, in hundredths of a second.
children() {
  read -r stat </proc/$$/stat || return
  set -- ${stat##*) }
  ticks=$((${14} + ${15} - ticks))
}

# Resources that the job used: from its cgroup if Slurm made one, otherwise the processor time of the command and of children that
# it waited for, unless srun started it elsewhere. This script sees one node only.
measure() {
  [ "${SLURM_JOB_NUM_NODES:-2}" -eq 1 ] || return 0
  [ -z "$forward" ] || { children && cpu=$((ticks * 10000)); }
  while IFS=: read -r hierarchy controllers path; do
    group=${path%%/"job_$SLURM_JOB_ID/"*}
    [ "$group" != "$path" ] || continue
    group=$group/job_$SLURM_JOB_ID
    case ,$controllers, in
      ,,) read -r name cpu <"/sys/fs/cgroup$group/cpu.stat"; read -r memory <"/sys/fs/cgroup$group/memory.peak" ;;
      *,cpuacct,*) read -r cpu <"/sys/fs/cgroup/cpuacct$group/cpuacct.usage" && cpu=$((cpu / 1000)) ;;
      *,memory,*) read -r memory <"/sys/fs/cgroup/memory$group/memory.max_usage_in_bytes" ;;
    esac
  done </proc/self/cgroup
}

# A removed directory accepts no record.
record() {
  until ln -s "$2" "$dir/$1" || [ -L "$dir/$1" ] || ! [ -d "$dir" ]; do sleep 1; done
}

end() {
  rm -f "$dir/job"
  record exit "$1"
  exit "${2:-0}"
}

fail() {
  end "failed $1 $2" 1
}

# Copies the output of stream $1 to its file. At the limit, and on a full disk, the current write is lost.
keep() {
  exec 3>&- 4>&- >>"$dir/$1"
  trap '' TERM USR1
  ulimit -f "$blocks"
  losses=0
  until cat; do
    size=$(wc -c <"$dir/$1")
    if [ "$size" -ge $((blocks * 512)) ]; then
      record "over.$1" "$(wc -c)"
      return
    fi
    losses=$((losses + 1))
    record "full.$1.$losses" "$size"
    sleep 1
  done
}

# Prints the node of each process, one per line. $1: processes, $2: processes per node.
write_nodes() {
  left=$1
  scontrol show hostnames "$SLURM_JOB_NODELIST" | while read -r node; do
    at=0
    while [ "$at" -lt "$2" ] && [ "$left" -gt 0 ]; do
      echo "$node"
      at=$((at + 1)) left=$((left - 1))
    done
  done >"$dir/nodes"
}

[ -d "$dir" ] || exit 97
[ "${SLURM_RESTART_COUNT:-0}" -eq 0 ] || exit 0
claim="job $SLURM_JOB_ID $SLURMD_NODENAME"
if ! ln -s "$claim" "$dir/claim"; then
  taken=$(readlink "$dir/claim")
  # A network file system may report that the link exists after it has just created it. A crashed controller may begin a job
  # again.
  if [ "$taken" != "$claim" ] || [ -L "$dir/begun" ]; then
    [ "${taken%"${taken#job * }"}" != "job $SLURM_JOB_ID " ] || record again "$SLURMD_NODENAME"
    exit 0
  fi
fi

srun=$(command -v srun)
if sourcing=$(command -v bash); then sourcing="$sourcing --posix"; else sourcing=/bin/sh; fi
find_reset
MASTER_ADDR=$SLURMD_NODENAME
export MASTER_ADDR
. "$dir/job"
cd -- "$workdir" || fail WORKDIR_NOT_FOUND "There is no directory $workdir on $SLURMD_NODENAME"
# A long path needs disk space, so this record may be missing.
[ -z "$outputs" ] || ln -s "$(stat -c %i .) $workdir" "$dir/workdir"
if [ "$in$out$err" ]; then
  refusal=$(/bin/sh -c "$path_check" berth "$in" "$out" "$err") || fail BAD_SPEC "$refusal"
fi
[ "$processes" -eq 1 ] || write_nodes "$processes" "$per_node"
mkfifo -m 600 "$dir/pipe.out" "$dir/pipe.err" "$dir/pipe.kept" ||
  fail START_FAILED "Cannot make pipes in $dir on $SLURMD_NODENAME"
# The third pipe closes when both readers end.
keep stdout 5>"$dir/pipe.kept" <"$dir/pipe.out" &
readers=$!
keep stderr 5>"$dir/pipe.kept" <"$dir/pipe.err" &
readers="$readers $!"
exec 5<"$dir/pipe.kept" 3>"$dir/pipe.out" 4>"$dir/pipe.err"
rm -f "$dir/pipe.out" "$dir/pipe.err" "$dir/pipe.kept"

[ "$term" = - ] || end "143 $term" 143
[ -z "$killed" ] || end '137 -' 137
uptime
started=$up
children
record begun "$SLURM_JOB_NODELIST ${SLURM_JOB_GPUS:-${GPU_DEVICE_ORDINAL:-}} $(date +%s%3N)"
{
  trap - HUP INT QUIT XFSZ
  exec setsid $reset "$@"
} </dev/null >&3 2>&4 3>&- 4>&- 5<&- &
pid=$!
exec 3>&- 4>&-
[ "$term" = - ] || signal_command TERM
[ -z "$killed" ] || signal_command KILL
await "$pid"
measure
signal_command KILL
# A process that left the group of the command may hold the pipes open: it gets two seconds. Then this script ends, and the `cat`
# of a held pipe lives as long as that process. A signal to all processes of the job ends `timeout` too, which is repeated. No
# process may be left otherwise: with cgroups, Slurm would wait a second or more for it.
tries=0
until timeout 2 cat <&5; do
  if [ $? -eq 124 ] || [ "$tries" -eq 3 ]; then
    kill -KILL $readers
    break
  fi
  tries=$((tries + 1))
  sleep 1
done
wait $readers
end "$code $term $cpu $memory" "$code"
