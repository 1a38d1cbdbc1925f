import type { Domain } from '../domain/domain.ts'
import { asLeader, type Leader } from '../domain/leadership.ts'
import { type ChosenNodes, rebook } from '../domain/machines/rebook.ts'
import type { Report } from './outcome.ts'

/**
 * Moves allocations to the nodes that a backend reports for its runs. It is a transaction of its own after that of
 * the reports, because it locks the pool first. If it fails, the carrier of the next leader reports the nodes again.
 */

interface RunReport {
  runId: string
  report: Report
}

export async function rebookReported(domain: Domain, leader: Leader, reports: readonly RunReport[]): Promise<void> {
  const told = reports.flatMap(({ runId, report }): ChosenNodes[] =>
    report.kind === 'seen' && report.observation.state === 'running' && report.observation.placements?.length
      ? [{ runId, chosen: report.observation.placements }]
      : [],
  )
  if (told.length === 0) return
  await asLeader(domain, leader, (sql) => rebook(sql, leader.pool, told))
  domain.wakeups.poke('queue')
}
