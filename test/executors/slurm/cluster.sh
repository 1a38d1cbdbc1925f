#!/bin/bash
# A Slurm cluster of two nodes on this machine, for tests: slurm.sh up DIRECTORY, slurm.sh down DIRECTORY. Needs root and the
# packages slurm-wlm and munge. Nodes n1 and n2 are two slurmd with host names of their own and two GPUs each, which are
# terminals in truth; Slurm runs without accounting. Jobs have cgroups, so that their memory is bounded, where those of version 1
# may be made. Prints the path of slurm.conf. SLURM_PORT: the first of three ports.
set -euo pipefail
verb=$1 directory=$2 port=${SLURM_PORT:-16917}
nodes="n1 n2"

is_alive() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null; }

launch() {
  local name=$1
  shift
  setsid "$@" >"$directory/$name.log" 2>&1 </dev/null &
  echo $! >"$directory/$name.pid"
}

down() {
  local pid_file
  [ ! -s "$directory/slurm.conf" ] || SLURM_CONF=$directory/slurm.conf timeout 20 scancel --user=root 2>/dev/null || true
  for pid_file in "$directory"/{slurmctld,slurmd-n1,slurmd-n2,munged}.pid; do
    is_alive "$pid_file" || continue
    kill "$(cat "$pid_file")"
    for _ in $(seq 50); do is_alive "$pid_file" || break; sleep 0.1; done
    ! is_alive "$pid_file" || kill -KILL "$(cat "$pid_file")"
  done
  find /sys/fs/cgroup/*/slurm_n[12] -depth -type d -exec rmdir {} \; 2>/dev/null || true
}

has_cgroups() { [ -w /sys/fs/cgroup/memory/cgroup.procs ] && [ -w /sys/fs/cgroup/freezer/cgroup.procs ]; }

write_conf() {
  cat <<CONF
ClusterName=berth
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$directory/munge/socket
SlurmctldPort=$port
SlurmctldPidFile=$directory/slurmctld.pid
SlurmdPidFile=$directory/slurmd-%n.own
SlurmdSpoolDir=$directory/spool-%n
StateSaveLocation=$directory/state
$(has_cgroups && printf '%s\n' ProctrackType=proctrack/cgroup TaskPlugin=task/cgroup JobAcctGatherType=jobacct_gather/cgroup ||
    printf '%s\n' ProctrackType=proctrack/linuxproc TaskPlugin=task/none)
GresTypes=gpu
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MpiDefault=none
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=2,sched_interval=5
NodeName=n1 NodeAddr=127.0.0.1 NodeHostname=$(hostname -s) Port=$((port + 1)) CPUs=4 RealMemory=4000 Gres=gpu:a100:2
NodeName=n2 NodeAddr=127.0.0.1 NodeHostname=$(hostname -s) Port=$((port + 2)) CPUs=4 RealMemory=4000 Gres=gpu:v100:2
PartitionName=main Nodes=ALL Default=YES MaxTime=24:00:00 DefaultTime=10
PartitionName=short Nodes=ALL MaxTime=5 DefaultTime=1
PartitionName=urgent Nodes=ALL MaxTime=5 PriorityTier=10
CONF
}

up() {
  local node name
  mkdir -p "$directory"/{munge,state,spool-n1,spool-n2}
  chmod 711 "$directory" "$directory/munge"
  (umask 077 && head -c 128 /dev/urandom >"$directory/munge/key")
  # The daemons look for each other by name.
  for name in "$(hostname -s)" $nodes; do getent hosts "$name" >/dev/null || echo "127.0.0.1 $name" >>/etc/hosts; done
  write_conf >"$directory/slurm.conf"
  printf 'NodeName=%s Name=gpu Type=%s File=/dev/tty[%s]\n' n1 a100 0-1 n2 v100 2-3 >"$directory/gres.conf"
  ! has_cgroups || printf '%s\n' CgroupPlugin=cgroup/v1 CgroupMountpoint=/sys/fs/cgroup ConstrainRAMSpace=yes >"$directory/cgroup.conf"
  export SLURM_CONF=$directory/slurm.conf
  launch munged munged --foreground --force --key-file="$directory/munge/key" --socket="$directory/munge/socket" \
    --pid-file="$directory/munge/pid" --log-file="$directory/munge/log" --seed-file="$directory/munge/seed"
  for _ in $(seq 100); do [ -S "$directory/munge/socket" ] && break; sleep 0.05; done
  launch slurmctld slurmctld -D -i -f "$SLURM_CONF"
  for node in $nodes; do
    launch "slurmd-$node" unshare --uts sh -c 'hostname "$0" && exec "$@"' "$node" slurmd -D -N "$node" -f "$SLURM_CONF"
  done
  for _ in $(seq 300); do
    [ "$(sinfo -h -N -t idle -p main -o %N 2>/dev/null | wc -l)" -ne 2 ] || { echo "$SLURM_CONF"; return 0; }
    sleep 0.1
  done
  tail -n 3 "$directory"/*.log >&2
  return 1
}

"$verb"
