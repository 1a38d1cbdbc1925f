import type { Domain } from '../../src/domain/domain.ts'
import { createStored } from '../../src/scheduler/stored.ts'
import type { Leader, Pass } from '../../src/scheduler/tick.ts'
import { createTurns } from '../../src/scheduler/turns.ts'

/** A leader without leadership's machinery: it holds epoch 1 of the pool and hears, decides and answers when it is told to. */
export interface TestLeader extends Leader {
  tick(): Promise<Pass>
}

export async function createLeader(domain: Domain, pool: string): Promise<TestLeader> {
  await domain.db.sql.query("INSERT INTO scheduler_leader (pool, epoch, holder, host) VALUES ($1, 1, 'test', 'test')", [
    pool,
  ])
  const leader = { pool, epoch: 1 }
  const turns = createTurns({ domain, leader, store: createStored(domain, leader), publishEveryMs: 0 })
  return { ...leader, tick: () => turns.take() }
}
