# The first process of a pod: runs the command as its child and exits with its exit code. The kernel delivers a signal to
# a first process only if it has a handler, so a command alone would not receive TERM. Messages of the shell about its
# child are not output of the job.
#
# The kubelet writes the order to stop into $orders/stop: milliseconds of grace after TERM. TERM and KILL go to all processes of
# the pod. The termination message has a line for each event besides the exit code; its last line is the lifetime of this
# process, because Kubernetes reports whole seconds.
#
# The maximum run time is kept here, so it needs neither a server nor a fast kubelet. A server orders the stop as well, up to a
# second too early, because it counts from a whole second: an order in the last two seconds waits for the maximum.
#
# With several pods the command waits for $orders/begin, which has the address of the first pod as soon as all of them run.
# With an X11 display it waits for the pipe of the display. The pipe stays open, so the display notices the end of this process
# (display.sh). This process tells a display on a GPU the first GPU of the job, because a pod has its GPUs in one container only.
#
# limit: the maximum run time; 0: unlimited. grace: its grace period; both in hundredths of a second. copies: pods of the run.
# patience: seconds that the command waits for the other pods and the display. display: its pipe; '': no display.

orders=/berth/orders limit=$1 grace=$2 replica=$3 copies=$4 patience=$5 display=$6 first=localhost
say() { echo "$1" >>/dev/termination-log; }
# Hundredths of a second since the machine started. The leading 1 keeps the digits after the point from being octal.
look_at_clock() {
  read -r now _ </proc/uptime
  now=$((${now%.*} * 100 + 1${now#*.} - 100))
}

end_if_stopped() {
  [ -s "$orders/stop" ] || return 0
  say STOPPED
  exit 143
}

exec 9>&2 2>/dev/null
look_at_clock
born=$now
trap 'exit 143' TERM
end_if_stopped

# $1: the word for the termination message when the patience is exceeded.
wait_a_second() {
  [ "$patience" -gt 0 ] || { say "$1"; exit 143; }
  patience=$((patience - 1))
  sleep 1
  end_if_stopped
}
if [ -n "$display" ]; then
  gpu=${display%/*}/gpu
  until [ -p "$display" ]; do
    if [ -p "$gpu" ]; then
      (nvidia-smi -i 0 --query-gpu=uuid --format=csv,noheader >"$gpu") &
      gpu=
    fi
    wait_a_second NO_DISPLAY
  done
  exec 8<>"$display"
  echo >&8
fi
if [ "$copies" -gt 1 ]; then
  until [ -s "$orders/begin" ]; do wait_a_second NOT_TOGETHER; done
  end_if_stopped
  read -r first <"$orders/begin" || :
fi
look_at_clock
due=$((now + limit))
trap 'caught=yes; kill -TERM -1' TERM
(
  trap - INT QUIT
  find_reset
  exec $reset /bin/sh /berth/run/command "$replica" "$first" 2>&9 8>&- 9>&-
) &
child=$!

# Children inherit ignored signals, so TERM to all does not end the sleep. Each check starts a process, so there is one a second
# until an order is near or given. Some versions of sleep accept whole seconds only.
(
  trap '' TERM
  asked= pause=1 short=0.1
  sleep "$short" || short=1
  [ "$limit" -eq 0 ] || [ "$limit" -gt 200 ] || pause=$short
  while sleep "$pause"; do
    look_at_clock
    order=
    if [ "$limit" -gt 0 ] && [ "$now" -ge $((due - 200)) ]; then
      pause=$short
      [ -n "$asked" ] || [ "$now" -ge "$due" ] || continue
    fi
    if [ -s "$orders/stop" ]; then
      read -r order <"$orders/stop" || :
      left=$(((order + 9) / 10))
      why=STOPPED
    elif [ "$limit" -gt 0 ] && [ "$now" -ge "$due" ]; then
      left=$grace
      why=MAX_RUN_TIME
    else
      continue
    fi
    if [ -z "$asked" ]; then
      say "$why"
      asked=$now ends=$((now + left)) pause=$short
      [ "$left" -eq 0 ] || kill -TERM -1
    fi
    [ $((asked + left)) -ge "$ends" ] || ends=$((asked + left))
    [ "$ends" -gt "$now" ] || kill -KILL -1
  done
) >/dev/null 8>&- 9>&- &

await "$child"
look_at_clock
say "RAN $((now - born))"
exit "$code"
