# Waits for the end of its server, which holds the other end of standard input, and then sends KILL at the end of each
# grace that a stop has given. Needs the uptime of the system.

: the heir of a server of Berth
runs=$1
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

recall() {
  pid= born= cgroup= session= kill_up=
  while read -r word first second third rest; do
    case $word in
      claim) [ "$pid" ] || { pid=$first born=$second cgroup=${rest##* }; } ;;
      session) session=$first ;;
      stop) kill_up=${second%.*} ;;
      exit) return 1 ;;
    esac
  done <"$1"
  [ "$kill_up" ] && [ "$pid" != 0 ]
}

is_shim_alive() {
  read -r stat <"/proc/$pid/stat" || return
  set -- ${stat##*) }
  shift 19
  [ "$1" = "$born" ]
}

kill_at_last() {
  while read -r up rest </proc/uptime && [ "${up%.*}" -le "$kill_up" ]; do sleep $((kill_up + 1 - ${up%.*})); done
  recall "$1" || return
  case $cgroup in
    /*) printf 1 >"$cgroup/cgroup.kill" ;;
    *) is_shim_alive && [ "$session" ] && kill -KILL "-$session" ;;
  esac
}

while read -r rest; do :; done
[ -r /proc/uptime ] || exit
for journal in "$runs"/*/journal; do
  recall "$journal" && kill_at_last "$journal" &
done 2>/dev/null
wait
