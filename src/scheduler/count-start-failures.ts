import type { Domain } from '../domain/domain.ts'
import { type Leader, runAsLeader } from '../domain/leadership.ts'
import { countStartFailure, forgetStartFailures, type NodeTrouble } from '../domain/machines/node-back-off.ts'
import type { RunReport } from './outcome.ts'

/**
 * Counts failed starts per node. A failure is counted before its job returns to the queue, so that the node backs off
 * before the job starts again. Counting has its own transaction because it locks the pool first.
 */

type LoggedTrouble = NodeTrouble & { cause: unknown }
type Reported = readonly Pick<RunReport, 'runId' | 'handle' | 'report'>[]

const countedReasons: ReadonlySet<string> = new Set(['NODE_TROUBLE', 'START_FAILED'])

export function createNodeTroubles(domain: Domain, leader: Leader) {
  const { log, wakeups } = domain
  const { pool } = leader
  /** false: no node has failures to reset. */
  let isTrouble = true

  function logTrouble({ node, failures, seconds, because, isFirst, cause }: LoggedTrouble) {
    if (isFirst)
      log.warn(
        { pool, node, failures, seconds, because, cause: cause && String(cause) },
        'a node could not start a run and backs off',
      )
  }

  return {
    async count(reports: Reported): Promise<void> {
      const failures = reports.flatMap(({ runId, report }) =>
        report.kind === 'startFailed' && countedReasons.has(report.reason)
          ? [{ runId, isNodes: report.reason === 'NODE_TROUBLE', message: report.message, cause: report.cause }]
          : [],
      )
      if (failures.length === 0) return
      isTrouble = true
      const begun = await runAsLeader(domain, leader, async (sql) => {
        const troubles: LoggedTrouble[] = []
        for (const { cause, ...failure } of failures)
          for (const trouble of await countStartFailure(sql, pool, failure)) troubles.push({ ...trouble, cause })
        return troubles
      })
      begun.forEach(logTrouble)
    },
    async forget(reports: Reported): Promise<void> {
      const started = reports.flatMap(({ runId, handle }) => (handle === undefined ? [] : [runId]))
      if (!isTrouble || started.length === 0) return
      const { well, remain } = await runAsLeader(domain, leader, (sql) => forgetStartFailures(sql, pool, started))
      isTrouble = remain
      for (const node of well) log.info({ pool, node }, 'a node starts runs again')
      if (well.length > 0) wakeups.poke('queue')
    },
  }
}
