# Executes the command of a run with the environment of the job: the variables that the first argument refers to, and Slurm's
# variables for this node, by which the job finds its other processes and its GPUs.

step=$1
shift
set -f
[ "$CUDA_VISIBLE_DEVICES" ] && export NVIDIA_VISIBLE_DEVICES="$CUDA_VISIBLE_DEVICES"
for entry in $(export -p); do
  name=${entry%%=*}
  case $name in
    *[!A-Z0-9_]*) ;;
    SLURM_* | SLURMD_* | PMI* | CUDA_VISIBLE_DEVICES | NVIDIA_VISIBLE_DEVICES | ROCR_VISIBLE_DEVICES | GPU_DEVICE_ORDINAL | ZE_AFFINITY_MASK | MASTER_ADDR | BERTH_RANK)
      step="$step $name=\${$name}"
      ;;
  esac
done
exec /usr/bin/env -S "$step" "$@"
