#!/usr/bin/env bash
# A step of continuous integration that runs its work as a job of Berth and ends as the job ends.
#
# The key names the build and the step, so a step that the CI system repeats, or that loses its connection, finds the job of
# the first try instead of starting another. BERTH_URL and BERTH_TOKEN say which server.
set -euo pipefail

build=${CI_PIPELINE_ID:-${GITHUB_RUN_ID:-local-$(date +%s)}}
step=${1:?usage: ci.sh STEP COMMAND…}
shift

job=$(berth submit --name "ci $build $step" --tag ci --idempotency-key "ci/$build/$step" --max-run-time 1h -- "$@")
echo "job $job" >&2

# A cancelled build cancels its job.
trap 'berth cancel "$job" --reason "the build was cancelled"' INT TERM

berth logs -f "$job"
berth wait "$job" >&2
