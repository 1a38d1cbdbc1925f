import { readNow } from '../../platform/database-time.ts'
import { type Sql, wholeTableMsMax } from '../../platform/tx.ts'
import { demandToRead, type Viewer } from '../access.ts'
import type { Domain } from '../domain.ts'
import { dependencyMetSql } from '../jobs/dependencies.ts'
import { interactiveBand } from '../lanes.ts'
import { holdingSql } from '../state.ts'
import { type Finding, findExceededLimits, findWrongLanes } from './selfcheck-rules.ts'

/**
 * Invariants of the tables. A rule is one query for its violations, so it sees one snapshot. Tests check the rules
 * after every scenario, and `berth doctor` on request. A server checks every minute those rules whose cost grows only
 * with the running jobs.
 */

export type { Finding }

const runRules: Readonly<Record<string, string>> = {
  'exactly the runs that hold resources have allocations': `
    SELECT coalesce(r.id, a.run_id) AS id, coalesce(r.state::text, 'not holding') AS message
    FROM (SELECT id, state FROM run WHERE state IN ${holdingSql}) r
    FULL JOIN (SELECT DISTINCT run_id FROM allocation) a ON a.run_id = r.id WHERE r.id IS NULL OR a.run_id IS NULL`,
  'a run that holds resources has one allocation per replica and all of its GPUs': `
    SELECT r.id, a.count || ' allocations for ' || (l.shape->>'copies') || ' copies, ' || c.count || ' GPUs for ' || j.gpu AS message
    FROM run r JOIN job j ON j.id = r.job_id JOIN lane l ON l.id = j.lane_id
    CROSS JOIN LATERAL (SELECT count(*) AS count, max(replica) AS last FROM allocation WHERE run_id = r.id) a
    CROSS JOIN LATERAL (SELECT count(*) AS count FROM held_device WHERE run_id = r.id) c
    WHERE r.state IN ${holdingSql} AND a.count > 0
      AND (a.count <> (l.shape->>'copies')::int OR a.last <> a.count - 1 OR c.count < j.gpu
        OR c.count > j.gpu AND NOT coalesce((l.shape->>'exclusive')::boolean, false))`,
  'a claimed device belongs to a run that holds resources there': `
    SELECT c.run_id AS id, c.node_id || ' device ' || c.device AS message FROM device_claim c JOIN run r ON r.id = c.run_id
    WHERE r.state NOT IN ${holdingSql}
      OR NOT EXISTS (SELECT FROM allocation a WHERE a.run_id = c.run_id AND a.node_id = c.node_id)`,
  'an allocation counts GPUs by claims, and on delegated nodes without': `
    SELECT a.run_id AS id, n.name || ': ' || cardinality(a.gpu_slots) || ' counted' AS message
    FROM allocation a JOIN node n ON n.id = a.node_id
    WHERE NOT n.delegated AND (a.provisional OR a.gpu_slots <> '{}')
      OR n.delegated AND EXISTS (SELECT FROM device_claim c WHERE c.node_id = n.id)`,
  'free resources are capacity minus allocations and what others hold': `
    SELECT n.id, 'cpu ' || n.free_cpu_millis || ', memory ' || n.free_memory_bytes AS message
    FROM node n LEFT JOIN (SELECT node_id, sum(cpu_millis) AS cpu, sum(memory_bytes) AS memory FROM allocation GROUP BY 1) a ON a.node_id = n.id
    WHERE n.free_cpu_millis <> n.cpu_millis - n.held_cpu_millis - coalesce(a.cpu, 0)
      OR n.free_memory_bytes <> n.memory_bytes - n.held_memory_bytes - coalesce(a.memory, 0)`,
  'a hold belongs to a waiting job and names nodes of its pool': `
    SELECT h.id, j.state || ' ' || j.id AS message FROM hold h JOIN job j ON j.id = h.job_id
    WHERE j.state <> 'QUEUED' OR j.pool <> h.pool OR EXISTS (
      SELECT FROM jsonb_array_elements(h.placements) p
      WHERE NOT EXISTS (SELECT FROM node n WHERE n.id = p->>'nodeId' AND n.pool = h.pool))`,
}

const jobRules: Readonly<Record<string, string>> = {
  'the state of a job is that of its last run': `
    SELECT j.id, 'job ' || j.state || ', run ' || coalesce(r.state::text, 'missing') AS message
    FROM job j LEFT JOIN run r ON r.job_id = j.id AND r.number = j.run_number WHERE r.state IS DISTINCT FROM j.state`,
  'at most one run of a job is active': `
    SELECT job_id AS id, count(*) || ' runs' AS message FROM run WHERE finished_at IS NULL GROUP BY job_id HAVING count(*) > 1`,
  'exactly the QUEUED jobs have a queue entry': `
    SELECT coalesce(j.id, q.job_id) AS id, coalesce(j.state::text, 'no job') AS message
    FROM (SELECT id, state FROM job WHERE state = 'QUEUED') j FULL JOIN queue_entry q ON q.job_id = j.id
    WHERE j.id IS NULL OR q.job_id IS NULL`,
  'a queue entry matches its job': `
    SELECT j.id, 'run ' || q.run || ' of ' || j.run_number || ', place ' || q.sequence || ', band ' || q.band || ', lane ' || q.lane_id AS message
    FROM queue_entry q JOIN job j ON j.id = q.job_id LEFT JOIN lane l ON l.id = q.lane_id
    LEFT JOIN run r ON r.id = q.run_id AND r.job_id = j.id AND r.number = j.run_number
    WHERE l.id IS NULL OR r.id IS NULL OR q.lane_id <> j.lane_id OR q.run <> j.run_number OR q.pool <> j.pool
      OR q.sequence <> coalesce(j.turn, j.sequence)
      OR q.band <> CASE WHEN l.interactive THEN ${interactiveBand} ELSE l.priority END
      OR l.priority <> coalesce(j.priority_override, j.base_priority)`,
  'a queue entry is open only when its start time has come and its dependencies are satisfied': `
    SELECT q.job_id AS id, 'from ' || q.eligible_at AS message FROM queue_entry q
    WHERE q.open AND (q.eligible_at > (SELECT berth_now()) OR EXISTS (
      SELECT FROM dependency d JOIN job o ON o.id = d.on_job_id WHERE d.job_id = q.job_id AND NOT ${dependencyMetSql}))`,
  'the stored count of each queue equals its number of entries': `
    SELECT 'pool_' || pool AS id, 'band ' || band || ', chunk ' || chunk || CASE WHEN open THEN ', open: ' ELSE ', gated: ' END
      || coalesce(t.n, 0) || ' for ' || coalesce(q.n, 0) AS message
    FROM (SELECT pool, band, berth_chunk(sequence) AS chunk, open, count(*) AS n FROM queue_entry GROUP BY 1, 2, 3, 4) q
    FULL JOIN (SELECT pool, band, chunk, open, sum(entries) AS n FROM queue_tally GROUP BY 1, 2, 3, 4 HAVING sum(entries) <> 0) t
      USING (pool, band, chunk, open) WHERE q.n IS DISTINCT FROM t.n`,
  'the stored count of each account equals its number of entries': `
    SELECT 'pool_' || pool AS id, 'part ' || part || ', bid ' || bid || ', chunk ' || chunk || ': ' || coalesce(t.n, 0) || ' for '
      || coalesce(q.n, 0) AS message
    FROM (SELECT q.pool, berth_part(l.account) AS part, q.bid, berth_chunk(q.sequence) AS chunk, count(*) AS n
      FROM queue_entry q JOIN lane l ON l.id = q.lane_id WHERE NOT l.interactive GROUP BY 1, 2, 3, 4) q
    FULL JOIN (SELECT pool, part, bid, chunk, sum(entries) AS n FROM account_tally GROUP BY 1, 2, 3, 4 HAVING sum(entries) <> 0) t
      USING (pool, part, bid, chunk) WHERE q.n IS DISTINCT FROM t.n`,
  'the total of an account is its number of entries': `
    SELECT 'pool_' || pool AS id, account || ': ' || coalesce(t.n, 0) || ' for ' || coalesce(q.n, 0) AS message
    FROM (SELECT q.pool, l.account, count(*) AS n FROM queue_entry q JOIN lane l ON l.id = q.lane_id
      WHERE NOT l.interactive GROUP BY 1, 2) q
    FULL JOIN (SELECT pool, account, sum(entries) AS n FROM account_total GROUP BY 1, 2 HAVING sum(entries) <> 0) t
      USING (pool, account) WHERE q.n IS DISTINCT FROM t.n`,
  'exactly the BLOCKED jobs have a pending approval': `
    SELECT coalesce(j.id, a.job_id) AS id, coalesce(j.state::text, 'not BLOCKED') AS message
    FROM (SELECT id, state FROM job WHERE state = 'BLOCKED') j
    FULL JOIN (SELECT job_id FROM approval WHERE status = 'PENDING') a ON a.job_id = j.id WHERE j.id IS NULL OR a.job_id IS NULL`,
  'events are numbered 1, 2, 3 … up to the version': `
    SELECT j.id, 'version ' || j.version || ', ' || e.count || ' events, last ' || e.last AS message
    FROM job j JOIN LATERAL (SELECT count(*) AS count, min(seq) AS first, max(seq) AS last FROM event WHERE job_id = j.id) e ON true
    WHERE e.last IS DISTINCT FROM j.version OR e.count <> e.last - e.first + 1`,
  'a final job has a closed log with all runs sealed': `
    SELECT j.id, j.state::text AS message FROM job j JOIN run_log l ON l.job_id = j.id WHERE j.log_closed AND NOT l.sealed`,
}

/** Rules that may be violated for a short time, until a process has done its work. */
const eventualRules: Readonly<Record<string, string>> = {
  'an event gets its position in the feed within 10 s': `
    SELECT job_id AS id, 'event ' || seq || ' of ' || at AS message FROM event
    WHERE position IS NULL AND at < berth_now() - interval '10 seconds'`,
  'an audit entry is chained within 10 s': `
    SELECT id, action || ' of ' || at AS message FROM audit_entry WHERE seq IS NULL AND at < berth_now() - interval '10 seconds'`,
}

const findingsMax = 1_000

export async function findViolations(sql: Sql): Promise<Finding[]> {
  const found = [
    ...(await applyRules(sql, { ...runRules, ...jobRules })),
    ...(await findExceededLimits(sql)),
    ...(await findWrongLanes(sql)),
  ]
  return found.slice(0, findingsMax)
}

export const findRunViolations = async (sql: Sql): Promise<Finding[]> => [
  ...(await applyRules(sql, runRules)),
  ...(await findExceededLimits(sql)),
]

async function applyRules(sql: Sql, rules: Readonly<Record<string, string>>): Promise<Finding[]> {
  const found: Finding[] = []
  for (const [rule, query] of Object.entries(rules)) {
    const rows = await sql.query<{ id: string; message: string }>(`${query} LIMIT ${findingsMax - found.length}`)
    found.push(...rows.map(({ id, message }) => ({ rule, objectId: id, message })))
  }
  return found
}

export interface SelfCheck {
  ok: boolean
  findings: Finding[]
  at: Date
}

/** Requires a viewer who may see all jobs, because findings name jobs of all users. */
export async function selfCheck(
  { db }: Pick<Domain, 'db'>,
  viewer: Viewer,
  { statementMsMax = wholeTableMsMax }: { statementMsMax?: number } = {},
): Promise<SelfCheck> {
  demandToRead(viewer, 'job.view.all')
  const found = await db.transaction(
    async (sql) => [...(await findViolations(sql)), ...(await applyRules(sql, eventualRules))],
    { statementMsMax },
  )
  return { ok: found.length === 0, findings: found.slice(0, findingsMax), at: await readNow(db.sql) }
}
