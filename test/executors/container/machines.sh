#!/bin/bash
# Machines on this machine: each has a network namespace with sshd and an engine of its own. As root:
#   machines.sh up FOLDER NAME=dockerd|nvidia|podman…   prints "NAME ssh://…" for each, when its engine answers; nvidia: dockerd with two
#                                                       GPUs, of which only a script nvidia-smi exists
#   machines.sh cut|mend FOLDER NAME             takes its network away, and gives it back
#   machines.sh off|on FOLDER NAME               kills all its processes, and starts them again
#   machines.sh down FOLDER
# "ssh" of the server is FOLDER/ssh: it has keys and known hosts of its own.
set -euo pipefail
unset TMPDIR # a test removes its own at its end
command=$1 folder=$2
shift 2

bridge() { echo "bm$(printf %s "$folder" | cksum | cut -c1-6)"; }
number() { grep -n "^$1 " "$folder/names" | cut -d: -f1; }
kind() { sed -n "s/^$1 //p" "$folder/names"; }
space() { echo "$(bridge)-$(number "$1")"; }
address() { echo "10.231.0.$((10 + $(number "$1")))"; }
inside() { nsenter --net="/run/netns/$(space "$1")" "${@:2}"; }

start() {
  local name=$1 home=$folder/$1
  mkdir -p "$home"
  inside "$name" /usr/sbin/sshd -f "$home/sshd_config" -E "$home/sshd.log"
  if [ "$(kind "$name")" = podman ]; then
    inside "$name" env -C "$home" CONTAINERS_CONF="$folder/containers.conf" setsid podman --root "$home/data" --runroot "$home/run" --tmpdir "$home/run/libpod" --cgroup-manager cgroupfs \
      system service --time=0 "unix://$home/engine.sock" >"$home/engine.log" 2>&1 </dev/null &
  else
    local gpus=()
    [ "$(kind "$name")" = nvidia ] && gpus=(--add-runtime nvidia=runc)
    inside "$name" env PATH="$folder/nvidia:$PATH" setsid dockerd "${gpus[@]}" --data-root "$home/data" --exec-root "$home/exec" -H "unix://$home/engine.sock" --pidfile "$home/docker.pid" \
      --default-address-pool "base=10.$((231 + $(number "$name"))).0.0/16,size=24" >"$home/engine.log" 2>&1 </dev/null &
  fi
  for _ in $(seq 300); do
    curl -s --unix-socket "$home/engine.sock" http://engine/_ping >/dev/null 2>&1 && return 0
    sleep 0.1
  done
  tail -3 "$home/engine.log" >&2
  return 1
}

stop() {
  # Shims and commands of containers are in namespaces of their own. All die at once, as without power.
  local own
  own=$(ip netns pids "$(space "$1")" 2>/dev/null; pgrep -f -- "$folder/$1/" | grep -vx $$)
  for pid in $own; do echo "$pid"; pgrep -P "$pid"; done | sort -u | xargs -r kill -9 2>/dev/null || true
  sleep 0.5
  unmount "$1"
  # /run is empty after a restart of a machine.
  rm -rf "$folder/$1"/{docker.pid,engine.sock,sshd.pid,exec,run}
}

unmount() {
  for mount in $(awk -v home="$folder/$1/" 'index($2, home) == 1 { print $2 }' /proc/mounts | sort -r); do umount -l "$mount" || true; done
}

wire() {
  ip link set "$(space "$1")" up
}

case $command in
up)
  mkdir -p "$folder"
  : >"$folder/names"
  for each in "$@"; do echo "${each%%=*} ${each#*=}" >>"$folder/names"; done
  [ -e "$folder/key" ] || ssh-keygen -q -t ed25519 -N '' -f "$folder/key"
  cat >"$folder/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=16384:16384", "nproc=16384:16384"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
CONF
  mkdir -p /run/sshd
  ip link add "$(bridge)" type bridge 2>/dev/null || true
  ip addr replace 10.231.0.1/24 dev "$(bridge)"
  ip link set "$(bridge)" up
  mkdir -p "$folder/nvidia"
  cat >"$folder/nvidia/nvidia-container-runtime-hook" <<'HOOK'
#!/bin/sh
bundle=$(sed 's/.*"bundle":"\([^"]*\)".*/\1/')
root=$(sed 's/.*"root":{"path":"\([^"]*\)".*/\1/' "$bundle/config.json")
cp "$(dirname "$0")/nvidia-smi.container" "$root/usr/bin/nvidia-smi"
HOOK
  cat >"$folder/nvidia/nvidia-smi.container" <<'SMI'
#!/bin/sh
[ $# -gt 0 ] || { echo '| NVIDIA-SMI 550.54   Driver Version: 550.54   CUDA Version: 12.4 |'; exit; }
echo 'NVIDIA A100, 40960, 8.0, GPU-1'
echo 'NVIDIA A100, 40960, 8.0, GPU-2'
SMI
  chmod +x "$folder/nvidia"/*
  : >"$folder/known_hosts"
  while read -r name _; do
    home=$folder/$name
    mkdir -p "$home"
    ip netns add "$(space "$name")"
    ip link add "$(space "$name")" type veth peer name eth0 netns "$(space "$name")"
    ip link set "$(space "$name")" master "$(bridge)" up
    inside "$name" ip addr add "$(address "$name")/24" dev eth0
    inside "$name" ip link set eth0 up
    inside "$name" ip link set lo up
    inside "$name" ip route add default via 10.231.0.1
    [ -e "$home/host_key" ] || ssh-keygen -q -t ed25519 -N '' -f "$home/host_key"
    echo "$(address "$name") $(cat "$home/host_key.pub")" >>"$folder/known_hosts"
    cat >"$home/sshd_config" <<CONF
HostKey $home/host_key
PidFile $home/sshd.pid
AuthorizedKeysFile $folder/key.pub
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
CONF
    start "$name"
    echo "$name ssh://root@$(address "$name")$home/engine.sock"
  done <"$folder/names"
  mkdir -p "$folder/bin"
  printf '#!/bin/sh\nexec /usr/bin/ssh -F none -i %s -o UserKnownHostsFile=%s "$@"\n' "$folder/key" "$folder/known_hosts" >"$folder/bin/ssh"
  chmod +x "$folder/bin/ssh"
  ;;
cut) ip link set "$(space "$1")" down ;;
mend) wire "$1" ;;
off) stop "$1" ;;
on) start "$1" ;;
down)
  [ -e "$folder/names" ] || exit 0
  while read -r name _; do
    stop "$name"
    ip netns del "$(space "$name")" 2>/dev/null || true
  done <"$folder/names"
  ip link del "$(bridge)" 2>/dev/null || true
  ;;
esac
