import type { Tx } from '../../platform/tx.ts'
import { storeAppliedSetting } from '../applied.ts'
import { announceSettings } from '../changes.ts'
import { interactiveBand, type Policy } from '../lanes.ts'
import { lockPool } from '../limits/limits.ts'
import type { StoredSettings } from '../scheduling.ts'

/** Scheduling settings of the configuration. A change locks the row of the pool, as starts do. */
export interface DeclaredPlanning {
  scheduling: StoredSettings
  weights: Readonly<Record<string, number>>
}

export async function applyPlanning(tx: Tx, pool: string, declared: DeclaredPlanning): Promise<boolean> {
  if (!(await storeAppliedSetting(tx, `planning/${pool}`, declared))) return false
  await lockPool(tx, pool)
  const data = { scheduling: { ...declared.scheduling }, weights: { ...declared.weights } }
  await tx.prisma.pool.update({ where: { name: pool }, data })
  await announceSettings(tx, pool)
  return true
}

/** Also updates the bids of waiting entries, because the policy decides which bids count. */
export async function changePolicy(tx: Tx, pool: string, policy: Policy): Promise<void> {
  const { count } = await tx.prisma.pool.updateMany({
    where: { name: pool, policy: { not: policy } },
    data: { policy },
  })
  if (count === 0) return
  await tx.query(
    `UPDATE queue_entry SET bid = CASE WHEN $2 = 'FAIR_SHARE' THEN coalesce((job.spec->>'bid')::int, 0) ELSE 0 END
     FROM job WHERE job.id = queue_entry.job_id AND queue_entry.pool = $1 AND band <> ${interactiveBand}
       AND coalesce((job.spec->>'bid')::int, 0) <> 0`,
    [pool, policy],
  )
}
