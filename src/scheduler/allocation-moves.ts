import type { Domain } from '../domain/domain.ts'
import { asLeader, type Leader } from '../domain/leadership.ts'
import { type ChosenNodes, rebook } from '../domain/machines/rebook.ts'
import type { Report } from './outcome.ts'

/**
 * Allocations follow the nodes that a backend reports for its runs. A transaction of its own after that of the reports:
 * it locks the pool before anything else, as a pass does. If it is missed, the carrier of the next leader reports the
 * nodes again.
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
