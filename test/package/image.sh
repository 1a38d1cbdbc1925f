#!/usr/bin/env bash
# Builds the image of ops/docker with the engine of DOCKER_HOST, runs it with a read-only root, and replaces the
# container: bash test/package/image.sh. NODE_IMAGE and DEBIAN_IMAGE replace the bases, BUILD_OPTIONS has more options.
set -euo pipefail
cd "$(dirname -- "${BASH_SOURCE[0]}")/../.."

docker version > /dev/null 2>&1 || { echo "SKIPPED image: Docker is missing, or its engine is unreachable" >&2; exit 0; }
tag=berth:test-$$ name=berth-test-$$
secrets=$(mktemp -d)
leave() {
  docker rm -f "$name" > /dev/null 2>&1 || true
  docker volume rm -f "$name" > /dev/null 2>&1 || true
  docker rmi -f "$tag" > /dev/null 2>&1 || true
  rm -rf "$secrets"
}
trap leave EXIT
fail() { echo "FAILED image: $*" >&2; docker logs "$name" >&2 || true; exit 1; }

options=()
for base in NODE_IMAGE DEBIAN_IMAGE; do
  [ -z "${!base:-}" ] || options+=(--build-arg "$base=${!base}")
done
# shellcheck disable=SC2086 # several options
docker build -q ${BUILD_OPTIONS:-} "${options[@]}" -f ops/docker/Dockerfile -t "$tag" . > /dev/null
echo "build: $(($(docker image inspect --format '{{.Size}}' "$tag") / 1000000)) MB"

token=$(head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n')
install -m 0644 /dev/stdin "$secrets/token" <<< "$token"
berth() { docker exec -e BERTH_TOKEN="$token" "$name" berth "$@"; }
start() {
  docker run -d --name "$name" --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges -p 127.0.0.1::4000 \
    -v "$name:/var/lib/berth/volume" -v "$secrets/token:/run/secrets/token:ro" -e BERTH_BOOTSTRAP_TOKEN_FILE=/run/secrets/token \
    --health-interval 2s "$tag" > /dev/null
  local port
  port=$(docker port "$name" 4000 | head -1) && port=${port##*:}
  for _ in $(seq 600); do
    curl -fs "http://127.0.0.1:$port/readyz" > /dev/null && return 0
    sleep 0.1
  done
  fail "the server is not ready after a minute"
}

SECONDS=0
start
[ "$(berth submit --follow -- echo packed)" = packed ] || fail "the first job printed something else"
[ "$SECONDS" -le 60 ] || fail "the first job took $SECONDS s"
echo "run: the first job had printed its line after $SECONDS s"
[ "$(docker exec "$name" id -u)" = 10001 ] || fail "the server runs as another account"
for _ in $(seq 100); do
  [ "$(docker inspect --format '{{.State.Health.Status}}' "$name")" != healthy ] || break
  sleep 0.1
done
[ "$(docker inspect --format '{{.State.Health.Status}}' "$name")" = healthy ] || fail "the health check fails"
echo "health: healthy, as the account 10001"

jobs=$(berth ls -o ids)
SECONDS=0
docker stop --time 60 "$name" > /dev/null
[ "$(docker inspect --format '{{.State.ExitCode}}' "$name")" = 0 ] || fail "TERM does not stop the server cleanly"
echo "stop: TERM stopped the server after $SECONDS s"
docker rm "$name" > /dev/null
start
[ "$(berth ls -o ids)" = "$jobs" ] || fail "the new container has other jobs"
[ "$(berth logs "$jobs")" = packed ] || fail "the new container has another output"
[ "$(berth submit --follow -- echo again)" = again ] || fail "the new container runs no job"
echo "replace: a new container with the same volume has the job and its output, and runs the next"
