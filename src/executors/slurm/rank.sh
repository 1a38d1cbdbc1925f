# One process of the launcher `multiple` over several nodes: srun starts it, and it finds its number as on one machine.

BERTH_RANK=$SLURM_PROCID
export BERTH_RANK
[ "$1" ] && exec <"$1"
shift
exec "$@"
