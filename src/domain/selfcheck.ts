import type { Sql } from '../platform/tx.ts'

/**
 * What must always be true of the tables, whatever happened. Each rule is a query of its breaches; tests ask after every
 * scenario.
 */
export interface Finding {
  rule: string
  objectId: string
  message: string
}

const rules: Readonly<Record<string, string>> = {
  'the state of a job is that of its last run': `
    SELECT j.id, 'job ' || j.state || ', run ' || coalesce(r.state::text, 'missing') AS message
    FROM job j LEFT JOIN run r ON r.job_id = j.id AND r.number = j.run_number WHERE r.state IS DISTINCT FROM j.state`,
  'a QUEUED job has one queue entry, and no other has': `
    SELECT coalesce(j.id, q.job_id) AS id, coalesce(j.state::text, 'no job') AS message
    FROM (SELECT id, state FROM job WHERE state = 'QUEUED') j FULL JOIN queue_entry q ON q.job_id = j.id
    WHERE j.id IS NULL OR q.job_id IS NULL`,
  'a BLOCKED job has an open approval, and no other has': `
    SELECT coalesce(j.id, a.job_id) AS id, coalesce(j.state::text, 'not BLOCKED') AS message
    FROM (SELECT id, state FROM job WHERE state = 'BLOCKED') j
    FULL JOIN (SELECT job_id FROM approval WHERE status = 'PENDING') a ON a.job_id = j.id WHERE j.id IS NULL OR a.job_id IS NULL`,
  'a run that holds resources is allocated, and no other is': `
    SELECT coalesce(r.id, a.run_id) AS id, coalesce(r.state::text, 'not holding') AS message
    FROM (SELECT id, state FROM run WHERE state IN ('STARTING', 'RUNNING', 'CANCELLING')) r
    FULL JOIN (SELECT DISTINCT run_id FROM allocation) a ON a.run_id = r.id WHERE r.id IS NULL OR a.run_id IS NULL`,
  'a claimed device belongs to a run that holds resources': `
    SELECT c.run_id AS id, c.node_id || ' device ' || c.device AS message FROM device_claim c JOIN run r ON r.id = c.run_id
    WHERE r.state NOT IN ('STARTING', 'RUNNING', 'CANCELLING')`,
  'free is capacity less what is allocated': `
    SELECT n.id, 'cpu ' || n.free_cpu_millis || ', memory ' || n.free_memory_bytes AS message
    FROM node n LEFT JOIN (SELECT node_id, sum(cpu_millis) AS cpu, sum(memory_bytes) AS memory FROM allocation GROUP BY 1) a ON a.node_id = n.id
    WHERE n.free_cpu_millis <> n.cpu_millis - coalesce(a.cpu, 0) OR n.free_memory_bytes <> n.memory_bytes - coalesce(a.memory, 0)`,
  'events are numbered 1, 2, 3 … up to the version': `
    SELECT j.id, 'version ' || j.version || ', ' || e.count || ' events, last ' || e.last AS message
    FROM job j JOIN LATERAL (SELECT count(*) AS count, min(seq) AS first, max(seq) AS last FROM event WHERE job_id = j.id) e ON true
    WHERE e.last IS DISTINCT FROM j.version OR e.count <> e.last - e.first + 1`,
  'a final job has a closed log, and every log of a closed job is sealed': `
    SELECT j.id, j.state::text AS message FROM job j JOIN run_log l ON l.job_id = j.id WHERE j.log_closed AND NOT l.sealed`,
}

const findingsMax = 1_000

export async function findings(sql: Sql): Promise<Finding[]> {
  const found: Finding[] = []
  for (const [rule, query] of Object.entries(rules)) {
    const rows = await sql.query<{ id: string; message: string }>(`${query} LIMIT ${findingsMax - found.length}`)
    found.push(...rows.map(({ id, message }) => ({ rule, objectId: id, message })))
  }
  return found
}
