# After the server dies, sends due KILLs and TERMs: KILL after the grace period of a stop, TERM at a fallback deadline, and KILL
# after its grace period. The server holds the other end of standard input, so a read of it ends when the server dies. This
# process exits when no run needs it, or when a later server has a living watchdog. Its working directory is the spool, so it
# finds the runs also after the spool was moved or its file system was unmounted.

: the watchdog of a server of Berth
grace=$1
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
exec 2>/dev/null
echo $$ >watchdog

# Reads the journal $1 into `at`, the uptime of the next signal to the run, and `kills`: 1 for KILL, 0 for TERM. Fails if no
# signal is due any more. `sent` has PID:UPTIME of each TERM, because a full disk accepts no record.
read_plan() {
  pid= due=- session= at= fired= kill_up=
  while read -r word first second third fourth fifth sixth; do
    case $word in
      claim) [ "$pid" ] || { pid=$first born=$second due=$fifth cgroup=$sixth; } ;;
      session) session=${session:-$first} ;;
      stop) kill_up=${second%.*} ;;
      deadline) [ "$fired" ] || fired=${first%.*} ;;
      exit) return 1 ;;
    esac
  done <"$1"
  case $due in
    *[!0-9]* | '') ;;
    *)
      case $sent in *" $pid:"*) fired=${sent##* "$pid":} fired=${fired%% *} ;; esac
      at=$due kills=0
      [ "$fired" ] && at=$((fired + grace)) kills=1
      ;;
  esac
  [ "$kill_up" ] && [ "$kill_up" -lt "${at:-$((kill_up + 1))}" ] && at=$((kill_up + 1)) kills=1
  [ "$at" ] && [ "$pid" != 0 ]
}

is_shim_alive() {
  read -r stat <"/proc/$pid/stat" || return
  set -- ${stat##*) }
  [ "$1" != Z ] || return
  shift 19
  [ "$1" = "$born" ]
}

is_populated() {
  while read -r word first; do
    [ "$word $first" = 'populated 1' ] && return
  done <"$cgroup/cgroup.events"
}

send_signal() {
  [ "$kills" = 1 ] || { sent="$sent$pid:${up%.*} "; printf 'deadline %s\n' "$up" >>"$1"; }
  case $kills$cgroup in
    1/*) printf 1 >"$cgroup/cgroup.kill" ;;
    1*) is_shim_alive && [ "$session" ] && kill -KILL "-$session" ;;
    *) is_shim_alive && [ "$session" ] && kill -TERM "-$session" && kill -CONT "-$session" && echo term >>"$1" ;;
  esac
}

while read -r rest; do :; done
sent=' '
while read -r newest <watchdog || newest=$$; [ "$newest" = $$ ] || ! kill -0 "$newest"; do
  pause=
  for journal in runs/*/journal; do
    read_plan "$journal" && { is_shim_alive || is_populated; } || continue
    read -r up rest </proc/uptime
    left=$((at - ${up%.*}))
    if [ "$left" -le 0 ]; then
      send_signal "$journal"
      left=1
    fi
    [ "$left" -lt "${pause:-60}" ] && pause=$left
    pause=${pause:-60}
  done
  [ "$pause" ] || exit
  sleep "$pause"
done
