# The supervisor of one run. It outlives the server, and records the events of the run in its journal.
#
# The shim belongs to the account of the server and leads its own session. The job leads another session, has its own cgroup
# where possible, and runs under its own account: no signal that the job sends to its group reaches the shim or the readers
# of the output. The job inherits only the descriptors 0, 1 and 2.
#
# Descriptors: 1, 2 the write ends of the two output pipes · 5, 6 their read ends · 3 the journal of the run, append only ·
# 4 the journal to read · 7 a line when the claim is decided, or never will be; the server waits for that line. 9 keeps the
# original 2.
#
# All processes are started before the claim: if one of them cannot be started, the run has certainly not begun.
#
# Records of the journal, one line and one write each; their order is the order of events:
#   claim PID BORN BOOT UP DUE CGROUP   this process supervises the run. Only the first claim counts, so that of two shims of
#                          a run only one starts the command. BORN distinguishes it from a later process with its pid.
#                          DUE: when the fallback deadline fires, CGROUP: of the job; each - if absent.
#   session PID BORN       the process that becomes the job: leader of its session and of its process group. Written together
#                          with its claim, so the first one counts.
#   limited DIRECTORY …    further cgroups of the job, with limits
#   stop GRACE UP          by the server, before it sends TERM: KILL comes at UP
#   deadline UP            by the server or its watchdog, before it sends TERM at the fallback deadline
#   term                   TERM was sent
#   full STREAM SIZE       output was lost after SIZE bytes of the stream: the disk was full
#   cut STREAM SIZE        output was lost after SIZE bytes of the stream: its reader was killed
#   over STREAM BYTES      the stream was over its limit, and at least BYTES of it were dropped
#   exit CODE UP           the command ended
#   used USEC PEAK OOM     by the whole job: processor time, peak memory in bytes, processes killed at the memory limit;
#                          - if unknown
#   0m0.00s 0m0.00s        twice, without a cgroup: user and system time of the shim, and of the processes it waited for
# All times are seconds since the boot. If the shim ended without an exit record, it was killed, and the end of the job is
# unknown.
#
# At the end: exit record, KILL for leftover processes of the job, the last bytes of its output, and KILL for the group of
# the shim.
#
# For dash and bash; uses builtins where possible, because starting a process takes longer.

: one run of Berth
boot=$1 directory=$2 cgroup=$3 limited=$4 limit=$5 grace=$6 blocks=$7
shift 7
# Not exported: a job has a PATH only if its environment sets one.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
trap : HUP INT QUIT ALRM TERM USR1 USR2
# Messages of the shell itself ("Killed") are not output of the job.
exec 9>&2 2>/dev/null

now() {
  up=-
  [ -r /proc/uptime ] && read -r up rest </proc/uptime
}

# Prints the start time of the process $1, or of the calling subshell for `self`.
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
  # Rounds up, so that the deadline never fires early.
  [ "$limit" -gt 0 ] && [ "$up" != - ] && due=$((${up%.*} + 1 + limit))
}

# If another shim has the claim, or no claim can be written, this shim ends with its whole group.
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
  # The server may have died, so its pipe may be closed.
  trap '' PIPE
  echo claimed >&7
  trap - PIPE
}

# Waits until the record can be written. `~` ends an incomplete record that a full disk has cut off, so that it is
# invalid. The server may have written that record.
record() {
  until printf '~\n%s\n' "$*" >&3; do
    sleep 1
  done
}

find_session() {
  session=
  while read -r word first rest; do
    [ "$word" = session ] && session=$first && break
  done <"$directory/journal"
}

# Kills the whole job if it has a cgroup; else its group, and the server searches for other processes.
kill_job() {
  if [ "$cgroup" ]; then
    printf 1 >"$cgroup/cgroup.kill"
  else
    find_session
    [ "$session" ] && kill -KILL "-$session"
  fi
}

# Used only on systems without an uptime; on others the server and its watchdog enforce the deadline.
fire_deadline() {
  exec >/dev/null 7>&- 9>&-
  sleep "$limit" || return
  record deadline
  find_session
  [ "$session" ] && kill -TERM "-$session" && kill -CONT "-$session" && record term
  sleep "$grace" && kill_job
}

# Waits until the disk has space for one write of `cat`; meanwhile the output of stream $1 stays in its pipe. The probe
# is random, because a file system may compress zeros. Its file shows the server that the reader waits for space.
await_room() {
  probe="$directory/room.$1"
  count=$((blocks < 256 ? blocks : 256))
  until dd if=/dev/urandom of="$probe" bs=512 count="$count" || ! [ -d "$directory" ]; do sleep 1; done
  rm -f "$probe"
}

# Copies the output of stream $1 from its pipe $2 to its spool file. The job waits only for a full disk: bytes over the
# limit are counted and dropped. At the limit, and when the disk becomes full, the current write (at most 128 KiB) is lost.
# A shell that cannot start a further process exits: then it becomes the `cat`, and the job still has a reader.
keep() {
  # `exec` exits the shell if it cannot open its file, so the reader waits while the data directory is missing. If the shim
  # has ended, the directory was removed.
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
      # The counter may be killed when memory is short, and the job must not wait for it.
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

# This process takes the claim and becomes the job. It looks for a stop that was recorded before a group could receive TERM.
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
  exec 2>&9 3>&- 4<&- 5<&- 6<&- 7>&- 9>&-
  exec "$@"
}

# Reads one number of the file $1 of a cgroup into `found`: the number after the word $2, or the only number.
find_number() {
  found=
  [ -r "$1" ] || return
  while read -r word first; do
    [ "$2" ] || found=$word
    [ "$word" = "$2" ] && found=$first
    [ "$found" ] && return
  done <"$1"
}

# Records processor time and memory of the job.
record_usage() {
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
keep stdout 5 &
readers=$!
keep stderr 6 &
readers="$readers $!"
if [ "$limit" -gt 0 ] && [ "$due" = - ]; then fire_deadline & fi
(launch "$@")
code=$?
trap - EXIT
exec >/dev/null 7>&- 9>&-
now
record exit "$code" "$up"
[ "$cgroup" ] || times >&3
kill_job
wait $readers
[ "$cgroup$limited" ] && record_usage
kill -KILL 0
