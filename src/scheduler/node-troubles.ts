import type { Domain } from '../domain/domain.ts'
import { asLeader, type Leader } from '../domain/leadership.ts'
import { countStartFailure, forgetStartFailures, type NodeTrouble } from '../domain/machines/node-trouble.ts'
import type { Report } from './outcome.ts'

/**
 * Counts failed starts against their nodes. A failure is counted before its job returns to the queue, so that the job
 * finds the node backing off. The count is a transaction of its own, because it locks the pool first, as a pass does.
 */

export interface NodeTroubles {
  count(reports: readonly RunReport[]): Promise<void>
  forget(reports: readonly RunReport[]): Promise<void>
}

interface Told extends NodeTrouble {
  /** The error of the executor. */
  cause: unknown
}

interface RunReport {
  runId: string
  /** The handle of a run that was just started. */
  handle?: string
  report: Report
}

/** Reasons for which the node may be the cause. */
const suspicious: ReadonlySet<string> = new Set(['NODE_TROUBLE', 'START_FAILED'])

export function createNodeTroubles(domain: Domain, leader: Leader): NodeTroubles {
  const { log, wakeups } = domain
  const { pool } = leader
  /** false: no node has failures. */
  let isTrouble = true

  /** Logs the first failure of a row only. */
  function tell({ node, failures, seconds, because, isFirst, cause }: Told) {
    if (isFirst)
      log.warn(
        { pool, node, failures, seconds, because, cause: cause && String(cause) },
        'a node could not start a run and backs off',
      )
  }

  return {
    async count(reports) {
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
    async forget(reports) {
      const started = reports.flatMap(({ runId, handle }) => (handle === undefined ? [] : [runId]))
      if (!isTrouble || started.length === 0) return
      const { well, remain } = await asLeader(domain, leader, (sql) => forgetStartFailures(sql, pool, started))
      isTrouble = remain
      for (const node of well) log.info({ pool, node }, 'a node starts runs again')
      if (well.length > 0) wakeups.poke('queue')
    },
  }
}
