import type { Domain } from '../domain/domain.ts'
import { asLeader, type Leader, unlessFenced } from '../domain/leadership.ts'
import { measurePool, minuteSeconds } from '../domain/usage/pool-use.ts'
import { createLoop, type Loop } from '../platform/loop.ts'

/** Measures once a minute how the pool is used. */
export const createUseMeter = (domain: Domain, leader: Leader): Loop =>
  createLoop({
    name: `use ${leader.pool}`,
    pollMs: minuteSeconds * 1_000,
    clock: domain.clock,
    log: domain.log,
    runOnce: () => unlessFenced(asLeader(domain, leader, (sql) => measurePool(sql, leader.pool))),
  })
