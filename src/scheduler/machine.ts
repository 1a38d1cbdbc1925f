import { freemem, loadavg, totalmem } from 'node:os'
import type { Domain } from '../domain/domain.ts'
import { reportMachine } from '../domain/machine-report.ts'
import { Fenced, fence } from '../platform/leadership.ts'
import { createLoop, type Loop } from '../platform/loop.ts'
import type { Leader } from './tick.ts'

const everyMs = 10_000

/** How the machine of this process is, told by the leader of a pool whose runs are processes of it. */
export function createMachineReports(domain: Domain, leader: Leader): Loop {
  const { clock, log } = domain
  return createLoop({
    name: `machine of ${leader.pool}`,
    pollMs: everyMs,
    clock,
    log,
    async runOnce() {
      const memoryPercent = Math.round((1 - freemem() / totalmem()) * 1000) / 10
      const report = { load5: loadavg()[1] ?? 0, memoryPercent }
      try {
        await domain.db.transaction(async (sql) => {
          await fence(sql, leader.pool, leader.epoch)
          await reportMachine(sql, leader.pool, report)
        })
      } catch (error) {
        // Another process leads, and reports.
        if (!(error instanceof Fenced)) throw error
      }
    },
  })
}
