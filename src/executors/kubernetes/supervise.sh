# The first process of a pod: runs the command as its child and exits with its exit code. The kernel delivers a signal to
# a first process only if it has a handler, so a command alone would not receive TERM. Messages of the shell about its
# child are not output of the job.
#
# The kubelet writes the order to stop into $orders/stop, in milliseconds of grace. TERM and KILL are for all processes
# of the pod. What happened besides the exit code goes into the termination message, a word per line.
#
# With several pods the command waits for $orders/begin, which has the address of the first pod as soon as all of them run.
# With an X11 display it waits for the pipe that tells that the display answers. The pipe stays open, so the display knows
# when this process ends (display.sh). A display on a GPU asks for the first one of the job, because a pod has its GPUs in one
# container only.
#
# limit: seconds after which the run is ended if no server does it; 0: it has no maximum run time. grace: seconds between
# TERM and KILL then. copies: pods of the run. patience: seconds that the command waits for the other pods and the
# display. display: its pipe; '': the run has none.

orders=/berth/orders limit=$1 grace=$2 replica=$3 copies=$4 patience=$5 display=$6 first=localhost
say() { echo "$1" >>/dev/termination-log; }

end_if_stopped() {
  [ -s "$orders/stop" ] || return 0
  say STOPPED
  exit 143
}

exec 9>&2 2>/dev/null
trap 'exit 143' TERM
end_if_stopped

# $1: what is told if the patience is over.
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
trap 'caught=yes; kill -TERM -1' TERM
(exec /bin/sh /berth/run/command "$replica" "$first" 2>&9 8>&- 9>&-) &
child=$!

# Ignored signals stay ignored in the children, so TERM to all does not end the sleep.
(
  trap '' TERM
  seconds=0 ends=
  while sleep 1; do
    seconds=$((seconds + 1))
    order=
    if [ -s "$orders/stop" ]; then
      read -r order <"$orders/stop" || :
      wanted=$((seconds + (order + 999) / 1000))
      why=STOPPED
    elif [ "$limit" -gt 0 ] && [ "$seconds" -ge "$limit" ]; then
      wanted=$((seconds + grace))
      why=MAX_RUN_TIME
    else
      continue
    fi
    if [ -z "$ends" ]; then
      say "$why"
      ends=$wanted last=$order
      [ "$ends" -le "$seconds" ] || kill -TERM -1
    elif [ "$order" != "$last" ]; then
      last=$order
      [ "$wanted" -ge "$ends" ] || ends=$wanted
    fi
    [ "$ends" -gt "$seconds" ] || kill -KILL -1
  done
) >/dev/null 8>&- 9>&- &

await "$child"
exit "$code"
