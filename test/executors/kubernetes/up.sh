#!/bin/bash
# kubernetes-up.sh DIRECTORY ROOTFS: a cluster of one node on this machine, on loopback, for the contract of the executor kubernetes.
# Needs root, etcd, containerd, runc, the reference CNI plugins in /usr/lib/cni, and kube-apiserver,
# kube-controller-manager, kube-scheduler, kubelet and kubectl of one version in BERTH_TEST_KUBERNETES_BINARIES or the PATH.
# ROOTFS is a tar file; nodes have it as the image localhost/bb:1. Everything is kept in DIRECTORY. Runs until it is
# ended; prints "ready" when the node is, and leaves DIRECTORY/kubeconfig and the ids of its processes, DIRECTORY/NAME.pid.
set -euo pipefail
directory=$1 rootfs=$2
PATH=${BERTH_TEST_KUBERNETES_BINARIES:+$BERTH_TEST_KUBERNETES_BINARIES:}$PATH
api=26443 etcd=22379 address=10.246.0.1 bridge=berthtest0
socket=$directory/containerd.sock kubeconfig=$directory/kubeconfig
started=()

start() {
  local name=$1
  shift
  setsid "$@" >"$directory/$name.log" 2>&1 </dev/null &
  echo $! >"$directory/$name.pid"
  started=("$!" "${started[@]}")
}

finish() {
  kubectl --kubeconfig "$kubeconfig" delete pods --all -A --grace-period=1 --timeout=20s >/dev/null 2>&1 || true
  for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${started[@]}"; do
    for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "$pid" 2>/dev/null || true
  done
  awk -v inside="$directory/" 'index($2, inside) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do
    umount "$mount" 2>/dev/null || umount -l "$mount" || true
  done
  ip link del "$bridge" 2>/dev/null || true
  iptables -D FORWARD -i "$bridge" -o "$bridge" -j ACCEPT 2>/dev/null || true
  ip addr del "$address/32" dev lo 2>/dev/null || true
}
trap finish EXIT
trap 'exit 143' TERM INT

until_true() {
  for _ in $(seq 600); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done
  echo "gave up: $*" >&2
  return 1
}

mkdir -p "$directory"/{pki,cni,kubelet}
openssl genrsa -out "$directory/pki/sa.key" 2048 2>/dev/null
openssl rsa -in "$directory/pki/sa.key" -pubout -out "$directory/pki/sa.pub" 2>/dev/null
token=$(openssl rand -hex 16)
echo "$token,admin,1,\"system:masters\"" >"$directory/tokens.csv"
cat >"$kubeconfig" <<END
apiVersion: v1
kind: Config
clusters: [{ name: test, cluster: { server: "https://127.0.0.1:$api", insecure-skip-tls-verify: true } }]
users: [{ name: admin, user: { token: $token } }]
contexts: [{ name: test, context: { cluster: test, user: admin } }]
current-context: test
END

start etcd etcd --data-dir "$directory/etcd" --unsafe-no-fsync \
  --listen-client-urls "http://127.0.0.1:$etcd" --advertise-client-urls "http://127.0.0.1:$etcd" \
  --listen-peer-urls "http://127.0.0.1:$((etcd + 1))" --initial-advertise-peer-urls "http://127.0.0.1:$((etcd + 1))" \
  --initial-cluster "default=http://127.0.0.1:$((etcd + 1))"
until_true curl -fs "http://127.0.0.1:$etcd/health"
start kube-apiserver kube-apiserver --etcd-servers "http://127.0.0.1:$etcd" --bind-address 127.0.0.1 --secure-port "$api" \
  --cert-dir "$directory/pki" --service-cluster-ip-range 10.97.0.0/16 --token-auth-file "$directory/tokens.csv" \
  --authorization-mode RBAC --allow-privileged --service-account-issuer https://test \
  --service-account-signing-key-file "$directory/pki/sa.key" --service-account-key-file "$directory/pki/sa.pub" \
  --advertise-address 127.0.0.1 --endpoint-reconciler-type none --disable-admission-plugins ServiceAccount \
  --kubelet-preferred-address-types InternalIP
until_true kubectl --kubeconfig "$kubeconfig" get --raw /readyz
start controllers kube-controller-manager --kubeconfig "$kubeconfig" --leader-elect=false --bind-address 127.0.0.1 \
  --node-monitor-grace-period 20s --secure-port $((api + 1)) --cert-dir "$directory/pki" --service-account-private-key-file "$directory/pki/sa.key"
start scheduler kube-scheduler --kubeconfig "$kubeconfig" --leader-elect=false --bind-address 127.0.0.1 \
  --secure-port $((api + 2)) --cert-dir "$directory/pki"

cat >"$directory/cni/10-test.conflist" <<END
{ "cniVersion": "0.4.0", "name": "test", "plugins": [{ "type": "bridge", "bridge": "$bridge", "isGateway": true,
  "ipam": { "type": "host-local", "ranges": [[{ "subnet": "10.246.1.0/24" }]], "routes": [{ "dst": "0.0.0.0/0" }] } }] }
END
cat >"$directory/containerd.toml" <<END
version = 2
root = "$directory/containerd"
state = "$directory/containerd-state"
[grpc]
  address = "$socket"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  # Inside of a container a process may not lower its score.
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$directory/cni"
END
start containerd containerd --config "$directory/containerd.toml"
until_true ctr -a "$socket" version

# Two images of the same layer: one for jobs, one that only sleeps and holds the network of a pod.
image=$directory/image
mkdir "$image"
cp "$rootfs" "$image/layer.tar"
layer=$(sha256sum "$image/layer.tar" | cut -d' ' -f1)
for each in 'bb ["/bin/sh"]' 'pause ["/bin/sleep","2147483647"]'; do
  printf '{"architecture":"%s","os":"linux","config":{"Env":["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],"Cmd":%s},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
    "$(dpkg --print-architecture)" "${each#* }" "$layer" >"$image/${each%% *}.json"
done
printf '[{"Config":"bb.json","RepoTags":["localhost/bb:1"],"Layers":["layer.tar"]},{"Config":"pause.json","RepoTags":["localhost/pause:1"],"Layers":["layer.tar"]}]' >"$image/manifest.json"
tar -C "$image" -cf "$directory/image.tar" manifest.json bb.json pause.json layer.tar
ctr -a "$socket" -n k8s.io images import "$directory/image.tar" >/dev/null

# Docker lets nothing pass between the ports of a bridge but its own.
iptables -I FORWARD -i "$bridge" -o "$bridge" -j ACCEPT
# The kubelet refuses an address of 127.0.0.0/8.
ip addr add "$address/32" dev lo
cat >"$directory/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $address
port: $((api + 3))
healthzPort: $((api + 4))
cgroupDriver: cgroupfs
failSwapOn: false
enforceNodeAllocatable: []
authentication: { anonymous: { enabled: true }, webhook: { enabled: false } }
authorization: { mode: AlwaysAllow }
evictionHard: { memory.available: "50Mi", nodefs.available: "1%", imagefs.available: "1%" }
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
nodeStatusUpdateFrequency: 5s
makeIPTablesUtilChains: false
resolvConf: ""
END
runtime=()
[[ $(kubelet --help 2>&1) == *'--container-runtime '* ]] && runtime=(--container-runtime remote)
start kubelet kubelet --config "$directory/kubelet.yaml" --kubeconfig "$kubeconfig" "${runtime[@]}" \
  --container-runtime-endpoint "unix://$socket" --root-dir "$directory/kubelet" --cert-dir "$directory/pki" \
  --hostname-override node1 --node-ip "$address"
until_true kubectl --kubeconfig "$kubeconfig" wait --for=condition=Ready node/node1 --timeout=1s
echo ready
wait
