#!/bin/bash
# npm run test:executors [-- BACKEND…]: the contract over real backends, all or those named. Each that is installed is started with data of its own, on a socket
# of its own, and stopped again; each that is not is named. As root, on Debian: apt-get install docker.io iptables
# busybox-static podman runc openssh-server iproute2 xvfb x11-utils slurm-wlm munge etcd-server containerd containernetworking-plugins; the binaries of Kubernetes are in
# BERTH_TEST_KUBERNETES_BINARIES or the PATH.
set -euo pipefail
cd "$(dirname "$0")/../.."

image=localhost/bb:1
directory=$(mktemp -d)
pids=()
skipped=()
failed=()

finish() {
  bash test/executors/container/machines.sh down "$directory/lab" >/dev/null 2>&1 || true
  bash test/executors/slurm/cluster.sh down "$directory/slurm"
  # Bridges of networks would stay, and the machine has addresses for about thirty.
  docker -H "unix://$directory/docker.sock" network rm berth berth-in >/dev/null 2>&1 || true
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do
    for _ in $(seq 600); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
  done
  rm -rf "$directory" 2>/dev/null || true
}
trap finish EXIT

# The root of an image, as a tar file: busybox, curl, and an X server with one client if this machine has them.
rootfs() {
  local root="$directory/rootfs"
  mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,etc,tmp,proc,sys,dev,root}
  cp /bin/busybox "$root/bin/busybox"
  for applet in $(/bin/busybox --list-full); do
    [ "$applet" = bin/busybox ] || ln -sf /bin/busybox "$root/$applet" 2>/dev/null || true
  done
  echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
  (command -v curl; ldd "$(command -v curl)" | grep -o '/[^ ]*') | sed 's|^/||' | tar -C / -ch -T - | tar -C "$root" -x
  if command -v Xvfb >/dev/null && command -v xkbcomp >/dev/null && command -v xdpyinfo >/dev/null; then
    (for each in $(command -v Xvfb xkbcomp xdpyinfo); do echo "$each"; ldd "$each" | grep -o '/[^ ]*'; done; echo /usr/share/X11/xkb) |
      sort -u | sed 's|^/||' | tar -C / -ch -T - | tar -C "$root" -x
  fi
  tar -C "$root" -c .
}

answers() {
  for _ in $(seq 300); do
    curl -s --unix-socket "$1" http://engine/_ping >/dev/null 2>&1 && return 0
    sleep 0.1
  done
  return 1
}

contract() {
  echo "── the executor container over $1"
  BERTH_TEST_ENGINE="unix://$2" npx vitest run --no-file-parallelism test/executors/container/container.test.ts test/executors/container/mounts.test.ts \
    test/executors/container/x11.test.ts test/process/backends.test.ts "${@:3}" || failed+=("$1")
}

wanted=" $* "
can() {
  [ "$wanted" = "  " ] || [[ $wanted == *" $engine "* ]] || return 1
  for program in "$@"; do
    command -v "$program" >/dev/null || { skipped+=("$engine: there is no $program"); return 1; }
  done
}

engine=displays
can Xvfb xkbcomp xdpyinfo || true

engine=local
if can node; then
  echo "── a server over local"
  BERTH_TEST_LOCAL=yes npx vitest run test/process/backends.test.ts || failed+=(local)
fi

engine=dockerd
if can dockerd docker busybox curl iptables; then
  socket=$directory/docker.sock
  dockerd --data-root "$directory/docker" --exec-root "$directory/exec" -H "unix://$socket" \
    --default-address-pool base=10.230.0.0/16,size=24 --pidfile "$directory/docker.pid" >"$directory/dockerd.log" 2>&1 &
  pids+=($!)
  if answers "$socket"; then
    rootfs | docker -H "unix://$socket" import --change 'ENV PATH=/usr/sbin:/usr/bin:/sbin:/bin' - "$image" >/dev/null
    contract dockerd "$socket" test/e2e/lost-nodes.test.ts
  else
    tail -3 "$directory/dockerd.log" >&2
    failed+=("dockerd does not start")
  fi
fi

engine=live-restore
if can containerd dockerd docker busybox; then
  echo "── dockerd is restarted while jobs run"
  BERTH_TEST_LIVE_RESTORE=yes npx vitest run --no-file-parallelism test/e2e/live-restore.test.ts test/e2e/engine-stop.test.ts || failed+=(live-restore)
fi

engine=podman
if can podman runc busybox curl; then
  socket=$directory/podman.sock
  # The limits of dockerd are higher than an account without CAP_SYS_RESOURCE may set.
  cat >"$directory/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=16384:16384", "nproc=16384:16384"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
CONF
  export CONTAINERS_CONF=$directory/containers.conf
  # An earlier one may be without an X server.
  { podman image exists "$image" && { ! command -v Xvfb || podman run --rm "$image" test -e /usr/bin/Xvfb; }; } >/dev/null 2>&1 ||
    rootfs | podman import -q --change 'ENV PATH=/usr/sbin:/usr/bin:/sbin:/bin' - "$image" >/dev/null
  # Containers of Podman leave files in the folder where the service was started.
  env -C "$directory" podman system service --time=0 "unix://$socket" >"$directory/podman.log" 2>&1 &
  pids+=($!)
  if answers "$socket"; then contract podman "$socket"; else failed+=("podman does not start"); fi
fi

engine=machines
if can dockerd podman runc busybox curl iptables sshd ssh nsenter ip; then
  lab=$directory/lab
  # An account without access to the engines logs in, too.
  chmod 711 "$directory"
  if mkdir "$lab" && bash test/executors/container/machines.sh up "$lab" a=dockerd b=nvidia c=podman >"$lab/addresses"; then
    for machine in a b c; do
      rootfs | docker -H "unix://$lab/$machine/engine.sock" import --change 'ENV PATH=/usr/sbin:/usr/bin:/sbin:/bin' - "$image" >/dev/null
    done
    echo "── the executor container over three machines behind ssh"
    BERTH_TEST_MACHINES=$lab npx vitest run --no-file-parallelism test/executors/container/machines.test.ts \
      test/process/machines.test.ts || failed+=(machines)
  else
    failed+=("machines do not start")
  fi
fi

engine=slurm
if can slurmctld slurmd munged sbatch unshare; then
  if conf=$(bash test/executors/slurm/cluster.sh up "$directory/slurm"); then
    chmod 711 "$directory"
    echo "── the executor slurm over $(SLURM_CONF=$conf sinfo --version)"
    BERTH_TEST_SLURM=$conf npx vitest run --no-file-parallelism test/executors/slurm/slurm.test.ts test/executors/slurm/sessions.test.ts test/executors/slurm/troubles.test.ts \
      test/e2e/lost-nodes.test.ts test/process/backends.test.ts || failed+=(slurm)
  else
    failed+=("slurm does not start")
  fi
fi

engine=kubernetes
PATH=$PATH${BERTH_TEST_KUBERNETES_BINARIES:+:$BERTH_TEST_KUBERNETES_BINARIES}
if can kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl etcd containerd ctr runc busybox curl openssl iptables; then
  rootfs >"$directory/rootfs.tar"
  mkdir "$directory/kubernetes"
  bash test/executors/kubernetes/up.sh "$directory/kubernetes" "$directory/rootfs.tar" >"$directory/kubernetes.log" 2>&1 &
  pids+=($!)
  for _ in $(seq 900); do grep -q '^ready' "$directory/kubernetes.log" && break; kill -0 $! 2>/dev/null || break; sleep 0.1; done
  if grep -q '^ready' "$directory/kubernetes.log"; then
    echo "── the executor kubernetes over $(kubectl --kubeconfig "$directory/kubernetes/kubeconfig" version --short 2>/dev/null | tail -1)"
    BERTH_TEST_KUBERNETES="$directory/kubernetes/kubeconfig" npx vitest run --no-file-parallelism test/executors/kubernetes/kubernetes.test.ts \
      test/executors/kubernetes/data.test.ts test/executors/kubernetes/x11.test.ts test/executors/kubernetes/sessions.test.ts test/executors/kubernetes/server.test.ts test/process/backends.test.ts || failed+=("kubernetes")
  else
    tail -3 "$directory/kubernetes.log" >&2
    failed+=("kubernetes does not start")
  fi
fi

for each in "${skipped[@]}"; do echo "SKIPPED $each" >&2; done
for each in "${failed[@]}"; do echo "FAILED $each" >&2; done
[ ${#failed[@]} -eq 0 ]
