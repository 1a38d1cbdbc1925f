# One process of the launcher `multiple` over several nodes, started by srun; its number is in BERTH_RANK as on one machine.

BERTH_RANK=$SLURM_PROCID
export BERTH_RANK
[ "$1" ] && exec <"$1"
shift
exec "$@"
