import { thresholdSql } from '../ageing.ts'
import { isLedSql } from '../leadership.ts'
import { type ConditionRule, toMinute } from './condition.ts'

/** A queue counts as stuck after this time without a completed pass. Longer than the timeout of a statement. */
const stuckMs = 30_000
const approvalHours = 4
/** A job counts as starving after this many ageing thresholds, because ageing raises a priority three times. */
const thresholdsUntilStarving = 3

export const schedulingConditions = {
  NO_LEADER: {
    severity: 'PAGE',
    meaning: 'A pool has no leader: its queued jobs do not start, and its running jobs are not watched.',
    cause:
      'No server with the role `scheduler` and this pool in its configuration is running, or that server cannot reach the database. A pool of one machine needs the server with its data directory.',
    remedy: 'Start the server of the pool, or read in its log why it does not lead.',
    commands: ['berth node ls', 'berth serve --config FILE'],
    forSeconds: 15,
    sql: `SELECT 'pool ' || p.name AS evidence FROM pool p WHERE NOT ${isLedSql('p.name')} ORDER BY p.name`,
  },
  QUEUE_STANDS: {
    severity: 'PAGE',
    meaning: 'The leader of a pool completes no pass over its queue: no job starts there.',
    cause: 'A transaction holds locks of the queue, the database fails statements of the leader, or the leader hangs.',
    remedy:
      'Read the log of the leader. End a transaction that blocks it. Without such a transaction, restart the server: its jobs go on.',
    commands: [
      'psql -c "SELECT pid, pg_blocking_pids(pid), query FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0"',
      'psql -c "SELECT pg_terminate_backend(PID)"',
    ],
    forSeconds: 0,
    gauge: ({ stalledMs }) => {
      const standing = Object.entries(stalledMs).filter(([, ms]) => ms > stuckMs)
      const texts = standing.map(([pool, ms]) => `pool ${pool}: last pass ${Math.round(ms / 1_000)} s ago`)
      return texts.length > 0 ? texts.join('; ') : null
    },
  },
  UNSATISFIABLE_JOBS: {
    severity: 'INFO',
    meaning: 'Jobs wait that no node of their pool can ever run.',
    cause: 'The jobs request more than the largest node has, a GPU model that the pool lacks, or a node left the pool.',
    remedy: 'Ask the owner to cancel the job and to submit it with smaller requests, or add a node.',
    commands: ['berth workload', 'berth info JOB', 'berth gpus'],
    forSeconds: 0,
    everySeconds: 30,
    sql: `SELECT 'pool ' || pool || ': ' || sum(waiting) || ' jobs; ' || min(reason->>'message') AS evidence
      FROM lane_view WHERE reason->>'code' = 'UNSATISFIABLE' AND waiting > 0 GROUP BY pool ORDER BY pool`,
  },
  STARVING: {
    severity: 'TICKET',
    meaning: `Jobs have waited for resources longer than ${thresholdsUntilStarving} starvation thresholds of their pool.`,
    cause: 'The pool is too small for its jobs, jobs run without a time limit, or a node is missing.',
    remedy: 'See which job is first and what it waits for. Bring back missing nodes, or end what blocks it.',
    commands: ['berth workload', 'berth info JOB', 'berth node ls'],
    forSeconds: 0,
    everySeconds: 30,
    sql: `SELECT 'pool ' || v.pool || ': ' || count(*) || ' kinds of jobs; the first waits since ' || ${toMinute('min(q.eligible_at)')} AS evidence
      FROM lane_view v JOIN queue_entry q ON q.job_id = v.head_job_id LEFT JOIN pool_limits pl ON pl.pool = v.pool
      WHERE q.open AND ${thresholdSql} > 0
        AND coalesce(v.reason->>'code', 'NO_CAPACITY') IN
          ('HOLD', 'NO_CAPACITY', 'RESERVED_NODES', 'WAITING_FOR_PREEMPTION')
        AND q.eligible_at < (SELECT berth_now()) - ${thresholdsUntilStarving} * ${thresholdSql} * interval '1 millisecond'
      GROUP BY v.pool ORDER BY v.pool`,
  },
  APPROVALS_WAIT: {
    severity: 'INFO',
    meaning: `Jobs have waited for an approval for more than ${approvalHours} hours.`,
    cause: 'The users who may approve have not seen the requests.',
    remedy: 'Approve or reject the jobs, or remind the users of the required level.',
    commands: ['berth ls --state BLOCKED', 'berth approve JOB', 'berth reject JOB'],
    forSeconds: 0,
    sql: `SELECT count(*) || ' approvals; the first was requested at ' || ${toMinute('min(requested_at)')} AS evidence
      FROM approval WHERE status = 'PENDING' AND requested_at < (SELECT berth_now()) - interval '${approvalHours} hours' HAVING count(*) > 0`,
  },
} satisfies Record<string, ConditionRule>
