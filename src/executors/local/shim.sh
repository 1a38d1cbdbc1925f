# The parent of one run: it outlives the server, and everything it knows it writes down.
#
# Descriptors: 1, 2 the spool files · 3 the journal of the run, append only · 4 the journal to read · 5 the list of ended
# runs, append only · 6 the journal once more, for the watchdog · 7 closed when the claim is decided; the server waits
# for that. All are opened by the server, so the account of the job needs no right on any path.
#
# Records of the journal, one line and one write each; their order is the truth:
#   claim PID BORN BOOT UP       this process is the parent. Of several claims the first counts, so that of two shims of
#                                one run only one ever starts the command. BORN tells it from a later bearer of its pid.
#   stop GRACE UP                by the server, before it sends TERM: after GRACE seconds comes KILL (UP: when)
#   deadline                     the fallback deadline fired
#   exit CODE UP                 the command is over
# No exit record and no parent any more: it was killed, with KILL, together with its group.
#
# The command runs in the foreground: a shell gives background commands /dev/null as stdin and makes them deaf to INT.
# So signals are the watchdog's, a child that sleeps until the deadline or until the end of a grace. At the end it is told
# to go and reaps its sleeps, and last of all the whole group is killed, the shim included: nothing that the job left
# behind survives it. (Killing the watchdog with the group would do, but its zombies stay in the group until init reaps
# them, which may be seconds, and meanwhile the group looks alive.)
#
# Written for dash and bash alike, no process spent where a builtin does.

: one run of Berth
run=$1 boot=$2 limit=$3 grace=$4 in=$5 out=$6 err=$7
shift 7
# Not exported: a job has a PATH only where its environment says so.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
trap : TERM HUP INT QUIT
# The shell's own remarks ("Killed") are none of the job's output.
exec 8>&2 2>/dev/null

now() {
  up=-
  [ -r /proc/uptime ] && read -r up rest </proc/uptime
}

birth() {
  if read -r stat </proc/$$/stat; then
    set -- ${stat##*) }
    shift 19
    born=$1
  else
    born=$(ps -o lstart= -p $$ | tr -s ' ' _)
  fi
}

claim() {
  birth
  now
  printf 'claim %s %s %s %s\n' "$$" "$born" "$boot" "$up" >&3 || exit 1
  while read -r word first second third rest <&4; do
    [ "$word" = claim ] && break
  done
  [ "$first $second $third" = "$$ $born $boot" ] || exit 0
  exec 7>&-
}

# A sleep that TERM to the group does not end.
nap() {
  trap '' TERM
  sleep "$1" &
  nap=$!
  naps="$naps $nap"
  trap look TERM
}

look() {
  while read -r word first rest <&6; do
    [ "$word" = stop ] || continue
    stopping=yes
    nap "$first"
  done
}

dismiss() {
  kill -KILL $naps $!
  wait
  exit
}

watchdog() {
  stopping= naps=
  trap dismiss USR1
  nap "$limit"
  look
  while
    wait "$nap"
    kill -0 "$nap"
  do :; done
  [ "$stopping" ] && kill -KILL 0
  printf 'deadline\n' >&3
  nap "$grace"
  trap '' TERM
  kill -TERM 0
  wait "$nap"
  kill -KILL 0
}

# stdoutPath and stderrPath: what goes there goes to the spool as well.
copy_output() {
  pipes=$(mktemp -d) && mkfifo "$pipes/out" "$pipes/err" || return
  trap '' TERM HUP INT QUIT
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
  trap : TERM HUP INT QUIT
  rm -r "$pipes"
}

# Leftovers of the job may hold the pipes open: they get two seconds.
finish_copies() {
  exec 1>&- 8>&-
  { sleep 2; kill -KILL $copies; } &
  wait $copies
}

# A stop that came before there was a command to receive its TERM is found here.
launch() {
  while read -r word rest <&4; do
    [ "$word" = stop ] && exit 143
  done
  exec 2>&8 3>&- 4<&- 5>&- 6<&- 8>&-
  [ "$in" ] && exec <"$in"
  exec "$@"
}

claim
trap '' TERM
watchdog &
watchdog=$!
trap : TERM
copies=
if [ "$out$err" ] && ! copy_output; then
  printf 'berth: cannot make the pipes for stdoutPath and stderrPath\n' >&8
  code=126
else
  (launch "$@")
  code=$?
fi
[ "$copies" ] && finish_copies
now
until printf 'exit %s %s\n' "$code" "$up" >&3; do sleep 1; done
kill -USR1 "$watchdog" && wait "$watchdog"
printf '%s\n' "$run" >&5
kill -KILL 0
