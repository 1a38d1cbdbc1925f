#!/usr/bin/env bash
# A step of continuous integration that runs its work as a job of Berth and ends as the job ends.
#
# The key names the build and the step, so a step that the CI system repeats, or that loses its connection, finds the job of
# the first try instead of starting another. "Re-run failed jobs" of GitHub counts as another build. BERTH_URL and
# BERTH_TOKEN say which server.
set -euo pipefail

build=${CI_PIPELINE_ID:-${GITHUB_RUN_ID:+$GITHUB_RUN_ID-${GITHUB_RUN_ATTEMPT:-1}}}
build=${build:-local-$(date +%s)}
step=${1:?usage: ci.sh STEP COMMAND…}
shift

job=$(berth submit --name "ci $build $step" --tag ci --idempotency-key "ci/$build/$step" --max-run-time 1h -- "$@")
echo "job $job" >&2

# A cancelled build cancels its job. bash runs a trap only between commands, or while it waits for one in the background.
trap 'berth cancel "$job" --reason "The build was cancelled" >&2; exit 130' INT TERM

berth logs -f "$job" &
wait $!
berth wait "$job" >&2 &
wait $!
