# The supervisor of one run: it outlives the server, and everything it knows it writes down.
#
# It belongs to the account of the server and leads a session of its own. The job leads another session and, where there is
# one, lives in a cgroup of its own, as its own account: no signal that the job sends to its group reaches this process
# or the readers of the output. Of these descriptors the job gets 0, 1 and 2, nothing else.
#
# Descriptors: 1, 2 the write ends of the two output pipes · 6, 8 their read ends · 3 the journal of the run, append only ·
# 4 the journal to read · 5 the list of ended runs, append only · 7 a line when the claim is decided, or when it never will
# be; the server waits for that. 9 takes over what was 2.
#
# All processes are there before the claim: if one of them may not be started, the run has certainly not begun.
#
# Records of the journal, one line and one write each; their order is the truth:
#   claim PID BORN BOOT UP DUE CGROUP   this process supervises the run. Of several claims the first counts, so that of two
#                          shims of one run only one ever starts the command. BORN tells it from a later bearer of its pid.
#                          DUE: when the fallback deadline fires, CGROUP: of the job; each - where there is none.
#   session PID BORN       the process that becomes the job: leader of its session and of its process group. Written together
#                          with its claim, so the first one counts.
#   limited DIRECTORY …    further cgroups of the job, which hold it to limits
#   stop GRACE UP          by the server, before it sends TERM: KILL comes at UP
#   deadline UP            by the server or its heir, before it sends TERM at the fallback deadline
#   term                   TERM was sent
#   full STREAM SIZE       output was lost when SIZE bytes of the stream were kept: the disk was full
#   cut STREAM SIZE        likewise, because its reader was killed
#   over STREAM BYTES      the stream was over its limit, and at least so many bytes of it were not kept
#   exit CODE UP           the command is over
#   used USEC PEAK OOM     by the whole job: processor time, most memory in bytes, processes killed for want of memory;
#                          - where the system does not tell
#   0m0.00s 0m0.00s        twice, without a cgroup: user and system time of the shim, and of the processes it waited for
# All moments are seconds since the boot. No exit record and no shim any more: it was killed, and how the job ended is unknown.
#
# The order of the end: exit record, KILL for all that the job left behind, the last bytes of its output, the list of ended
# runs, and KILL for this process's own group.
#
# Written for dash and bash alike, no process spent where a builtin does.

: one run of Berth
run=$1 boot=$2 directory=$3 cgroup=$4 limited=$5 limit=$6 grace=$7 blocks=$8
shift 8
# Not exported: a job has a PATH only if its environment sets one.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
trap : HUP INT QUIT ALRM TERM USR1 USR2
# Messages of the shell itself ("Killed") are not output of the job.
exec 9>&2 2>/dev/null

now() {
  up=-
  [ -r /proc/uptime ] && read -r up rest </proc/uptime
}

# Birth of the process $1; `self`: of the subshell that calls it.
birth() {
  if read -r stat <"/proc/$1/stat"; then
    pid=${stat%% *}
    set -- ${stat##*) }
    shift 19
    born=$1
  else
    pid=$1
    [ "$1" = self ] && pid=$(exec sh -c 'echo $PPID')
    born=$(ps -o lstart= -p "$pid" | tr -s ' ' _)
  fi
}

prepare_claim() {
  birth $$
  now
  due=-
  # Rounded up, so that it never fires early.
  [ "$limit" -gt 0 ] && [ "$up" != - ] && due=$((${up%.*} + 1 + limit))
}

# If another shim has the claim, or none can be written, nothing of this one is needed.
claim() {
  shim_born=$born
  birth self
  records='claim %s %s %s %s %s %s\nsession %s %s\n'
  printf "$records" "$$" "$shim_born" "$boot" "$up" "$due" "${cgroup:--}" "$pid" "$born" >&3 || kill -KILL 0
  while read -r word first second third rest <&4; do
    [ "$word" = claim ] && break
  done
  [ "$first $second $third" = "$$ $shim_born $boot" ] || kill -KILL 0
  [ "$limited" ] && record limited "$limited"
  # The server may have died.
  trap '' PIPE
  echo claimed >&7
  trap - PIPE
}

# A record that cannot be written on a full disk is written when there is room again. What the disk took of it before is
# ended by `~`, which makes no record of it.
record() {
  torn=
  until printf "$torn%s\n" "$*" >&3; do
    torn='~\n'
    sleep 1
  done
}

find_session() {
  session=
  while read -r word first rest; do
    [ "$word" = session ] && session=$first && break
  done <"$directory/journal"
}

# The whole job if there is a cgroup; else its group, and the server looks for the rest.
kill_job() {
  if [ "$cgroup" ]; then
    printf 1 >"$cgroup/cgroup.kill"
  else
    find_session
    [ "$session" ] && kill -KILL "-$session"
  fi
}

# Only where the system tells no uptime: elsewhere the server and its heir know when the deadline fires.
watchdog() {
  exec >/dev/null 7>&- 9>&-
  sleep "$limit" || return
  record deadline
  find_session
  [ "$session" ] && kill -TERM "-$session" && kill -CONT "-$session" && record term
  sleep "$grace" && kill_job
}

# Waits until the disk takes as much as one write of `cat`, so that the output of stream $1 stays in its pipe meanwhile. The
# probe is random, because a file system may compress zeros. Its file tells the server that the reader waits for room.
await_room() {
  probe="$directory/room.$1"
  count=$((blocks < 256 ? blocks : 256))
  until dd if=/dev/urandom of="$probe" bs=512 count="$count" || ! [ -d "$directory" ]; do sleep 1; done
  rm -f "$probe"
}

# Copies the output of stream $1 from its pipe $2 to its spool file. The job waits only for a full disk: bytes over the
# limit are counted and dropped. At the limit, and when the disk becomes full, the current write (at most 128 KiB) is lost. A shell ends
# when no further process may be started: then it becomes the `cat`, and the job still has a reader.
keep() {
  # A shell ends when `exec` cannot open its file, so the reader waits for it while the data directory is away. Without a shim
  # there is no run, and the directory was removed.
  until [ -e "$directory/$1" ]; do
    kill -0 "$$" || exit
    sleep 1
  done
  exec 7>&- 9>&- <&"$2" >>"$directory/$1"
  ulimit -f "$blocks"
  trap '' XFSZ TERM
  trap 'exec cat' EXIT
  until cat; do
    [ $? -eq 1 ] && why=full || why=cut
    size=$(wc -c <"$directory/$1")
    if [ "$size" -ge $((blocks * 512)) ]; then
      trap 'exec cat >/dev/null' EXIT
      # The counter may be killed for want of memory, and the job must not wait for it.
      until dropped=$(wc -c); do sleep 1; done
      record over "$1" "$dropped"
      break
    fi
    record "$why" "$1" $size
    sleep 1
    [ "$why" = cut ] || await_room "$1"
  done
  trap - EXIT
}

# This process takes the claim and becomes the job. It checks for a stop that came before there was a group to receive its
# TERM.
launch() {
  claim
  if [ "$cgroup" ] && ! printf 0 >"$cgroup/cgroup.procs"; then
    printf 'berth: cannot enter the cgroup %s\n' "$cgroup" >&9
    exit 126
  fi
  for each in $limited; do
    printf 0 >"$each/cgroup.procs" && continue
    printf 'berth: cannot enter the cgroup %s\n' "$each" >&9
    exit 126
  done
  while read -r word first rest <&4; do
    [ "$word" = stop ] || continue
    [ "$first" = 0.000 ] && exit 137
    exit 143
  done
  exec 2>&9 3>&- 4<&- 5>&- 6<&- 7>&- 8<&- 9>&-
  exec "$@"
}

# Reads one number of a file of a cgroup into `found`: that after the word $2, or the only one.
find_number() {
  found=
  [ -r "$1" ] || return
  while read -r word first; do
    [ "$2" ] || found=$word
    [ "$word" = "$2" ] && found=$first
    [ "$found" ] && return
  done <"$1"
}

# What the job has used.
sum_up() {
  usec=- peak=- oom=-
  for each in $cgroup $limited; do
    find_number "$each/cpu.stat" usage_usec
    [ "$found" ] && usec=$found
    for file in memory.peak memory.max_usage_in_bytes; do
      find_number "$each/$file"
      [ "$found" ] && peak=$found
    done
    for file in memory.events memory.oom_control; do
      find_number "$each/$file" oom_kill
      [ "$found" ] && oom=$found
    done
  done
  record used "$usec" "$peak" "$oom"
}

prepare_claim
trap 'echo unborn >&7' EXIT
keep stdout 6 &
readers=$!
keep stderr 8 &
readers="$readers $!"
if [ "$limit" -gt 0 ] && [ "$due" = - ]; then watchdog & fi
(launch "$@")
code=$?
trap - EXIT
exec >/dev/null 7>&- 9>&-
now
record exit "$code" "$up"
[ "$cgroup" ] || times >&3
kill_job
wait $readers
[ "$cgroup$limited" ] && sum_up
printf '%s\n' "$run" >&5
kill -KILL 0
