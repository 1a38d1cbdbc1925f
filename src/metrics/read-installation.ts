import { holdingSql } from '../domain/state.ts'
import type { Sql } from '../platform/tx.ts'

interface Amounts {
  cpus: number
  memory_bytes: number
  gpus: number
}

export interface PoolNumbers {
  pool: string
  /** Number of jobs by state, without ended jobs. */
  jobs: Readonly<Record<string, number>>
  nodes: Readonly<Record<string, number>>
  /** null: no job is waiting. */
  oldestWaitSeconds: number | null
  capacity: Amounts
  allocated: Amounts
  wanted: Amounts
}

export interface InstallationNumbers {
  pools: readonly PoolNumbers[]
  feedLagSeconds: number
  webhooks: readonly { name: string; waiting: number }[]
}

/** Reads all pools. The cost grows with running jobs, nodes and lanes, and little with the length of the queue. */
export async function readInstallation(sql: Sql): Promise<InstallationNumbers> {
  const [row] = await sql.query<InstallationNumbers>(installationSql, [], 'installation_metrics')
  return row ?? { pools: [], feedLagSeconds: 0, webhooks: [] }
}

const amountsSql = (cpu: string, memory: string, gpus: string) =>
  `jsonb_build_object('cpus', coalesce(${cpu}, 0) / 1000.0, 'memory_bytes', coalesce(${memory}, 0), 'gpus', coalesce(${gpus}, 0))`

const times = (amount: string) => `sum(waiting * (shape->>'copies')::bigint * (shape->>'${amount}')::bigint)`

const installationSql = `
WITH state AS (
  SELECT pool, 'QUEUED' AS state, sum(entries) AS count FROM queue_tally GROUP BY pool
  UNION ALL SELECT pool, state::text, count(*) FROM run WHERE state IN ${holdingSql} GROUP BY pool, state
  UNION ALL SELECT j.pool, 'BLOCKED', count(*) FROM approval a JOIN job j ON j.id = a.job_id
    WHERE a.status = 'PENDING' AND j.state = 'BLOCKED' GROUP BY j.pool
),
nodes AS (SELECT pool, state::text, count(*) AS count FROM node GROUP BY pool, state),
capacity AS (
  SELECT pool, sum(cpu_millis) AS cpu, sum(memory_bytes) AS memory,
    sum((SELECT count(*) FROM device d WHERE d.node_id = node.id)) AS gpus FROM node WHERE state = 'READY' GROUP BY pool
),
allocated AS (
  SELECT r.pool, sum(a.cpu_millis) AS cpu, sum(a.memory_bytes) AS memory
  FROM run r JOIN allocation a ON a.run_id = r.id WHERE r.state IN ${holdingSql} GROUP BY r.pool
),
allocated_gpus AS (
  SELECT r.pool, sum((SELECT count(*) FROM held_device h WHERE h.run_id = r.id)) AS gpus
  FROM run r WHERE r.state IN ${holdingSql} GROUP BY r.pool
),
wanted AS (
  SELECT pool, ${times('cpuMillis')} AS cpu, ${times('memoryBytes')} AS memory, ${times('gpu')} AS gpus
  FROM (SELECT v.pool, l.shape, sum(v.waiting) AS waiting FROM lane_view v JOIN lane l ON l.id = v.lane_id GROUP BY 1, 2) alike
  GROUP BY pool
),
oldest AS (SELECT p.name AS pool, (SELECT min(eligible_at) FROM queue_entry WHERE pool = p.name AND open) AS at FROM pool p)
SELECT
  coalesce((SELECT jsonb_agg(jsonb_build_object(
    'pool', p.name,
    'jobs', coalesce((SELECT jsonb_object_agg(s.state, s.count) FROM state s WHERE s.pool = p.name), '{}'),
    'nodes', coalesce((SELECT jsonb_object_agg(n.state, n.count) FROM nodes n WHERE n.pool = p.name), '{}'),
    'oldestWaitSeconds', extract(epoch FROM berth_now() - o.at),
    'capacity', ${amountsSql('c.cpu', 'c.memory', 'c.gpus')},
    'allocated', ${amountsSql('a.cpu', 'a.memory', 'g.gpus')},
    'wanted', ${amountsSql('w.cpu', 'w.memory', 'w.gpus')}
  ) ORDER BY p.name)
  FROM pool p LEFT JOIN capacity c ON c.pool = p.name LEFT JOIN allocated a ON a.pool = p.name
  LEFT JOIN allocated_gpus g ON g.pool = p.name LEFT JOIN wanted w ON w.pool = p.name LEFT JOIN oldest o ON o.pool = p.name), '[]') AS pools,
  coalesce((SELECT greatest(0, extract(epoch FROM berth_now() - min(at)))::float8 FROM event WHERE position IS NULL), 0) AS "feedLagSeconds",
  coalesce((SELECT jsonb_agg(jsonb_build_object('name', w.name, 'waiting',
      (SELECT count(*) FROM webhook_delivery d WHERE d.endpoint = w.name AND d.state = 'PENDING')) ORDER BY w.name)
    FROM webhook_endpoint w), '[]') AS webhooks`
