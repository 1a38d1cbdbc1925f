import type { Domain } from '../../src/domain/domain.ts'
import { type Leader, type Pass, tick } from '../../src/scheduler/tick.ts'

/** A leader without leadership's machinery: it holds epoch 1 of the pool and makes passes when it is told to. */
export interface TestLeader extends Leader {
  tick(): Promise<Pass>
}

export async function createLeader(domain: Domain, pool: string): Promise<TestLeader> {
  await domain.db.sql.query("INSERT INTO scheduler_leader (pool, epoch, holder, host) VALUES ($1, 1, 'test', 'test')", [
    pool,
  ])
  const leader = { pool, epoch: 1 }
  return { ...leader, tick: () => tick(domain, leader) }
}
