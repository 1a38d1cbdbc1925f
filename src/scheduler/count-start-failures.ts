import type { Domain } from '../domain/domain.ts'
import { asLeader, type Leader } from '../domain/leadership.ts'
import { countStartFailure, forgetStartFailures, type NodeTrouble } from '../domain/machines/node-back-off.ts'
import type { RunReport } from './outcome.ts'

/**
 * Counts failed starts per node. A failure is counted before its job returns to the queue, so that the node backs off
 * before the job starts again. Counting has its own transaction because it locks the pool first.
 */

type Told = NodeTrouble & { cause: unknown }
type Reported = readonly Pick<RunReport, 'runId' | 'handle' | 'report'>[]

const suspicious: ReadonlySet<string> = new Set(['NODE_TROUBLE', 'START_FAILED'])

export function createNodeTroubles(domain: Domain, leader: Leader) {
  const { log, wakeups } = domain
  const { pool } = leader
  /** false: no node has failures to reset. */
  let isTrouble = true

  function tell({ node, failures, seconds, because, isFirst, cause }: Told) {
    if (isFirst)
      log.warn(
        { pool, node, failures, seconds, because, cause: cause && String(cause) },
        'a node could not start a run and backs off',
      )
  }

  return {
    async count(reports: Reported): Promise<void> {
      const failures = reports.flatMap(({ runId, report }) =>
        report.kind === 'startFailed' && suspicious.has(report.reason)
          ? [{ runId, isNodes: report.reason === 'NODE_TROUBLE', message: report.message, cause: report.cause }]
          : [],
      )
      if (failures.length === 0) return
      isTrouble = true
      const begun = await asLeader(domain, leader, async (sql) => {
        const troubles: Told[] = []
        for (const { cause, ...failure } of failures)
          for (const trouble of await countStartFailure(sql, pool, failure)) troubles.push({ ...trouble, cause })
        return troubles
      })
      begun.forEach(tell)
    },
    async forget(reports: Reported): Promise<void> {
      const started = reports.flatMap(({ runId, handle }) => (handle === undefined ? [] : [runId]))
      if (!isTrouble || started.length === 0) return
      const { well, remain } = await asLeader(domain, leader, (sql) => forgetStartFailures(sql, pool, started))
      isTrouble = remain
      for (const node of well) log.info({ pool, node }, 'a node starts runs again')
      if (well.length > 0) wakeups.poke('queue')
    },
  }
}
