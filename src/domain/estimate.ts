import type { Sql } from '../platform/tx.ts'
import type { Domain } from './domain.ts'
import { type Waiting, waitingOf } from './explain.ts'
import { type InLine, readLine } from './line.ts'
import { readNodes } from './nodes.ts'
import { type FreeNode, giveBack, type Placement, place } from './placement.ts'
import type { Shape } from './shape.ts'

/**
 * When a waiting job may start. Earliest: when its gates are open and what runs has ended, by its maximum run time, far
 * enough for it to fit. Latest: when everything that runs has ended, and after that everybody ahead has run, one after the
 * other; null when one of them has no known run time, or stands too far back. Nobody promises it: jobs that end sooner
 * make it sooner, and who comes with a greater right makes it later.
 */
export interface Estimate {
  earliest: Date
  latest: Date | null
  basis: string
}

interface Row {
  jobId: string
  pool: string
  laneId: string
  shape: Shape
  now: Date
}

interface Ending {
  /** null: nobody knows. */
  endsAt: Date | null
  placements: readonly Placement[]
}

interface PoolNow {
  nodes: FreeNode[]
  endings: readonly Ending[]
  front: readonly InLine[]
}

/** Runs that are looked at. */
const endingsMax = 1_000
/** Jobs in line that are looked at. */
const frontMax = 1_000

/** null: what it waits for has no time. */
export async function estimatesOf(
  domain: Domain,
  jobIds: readonly string[],
): Promise<ReadonlyMap<string, Estimate | null>> {
  const { sql } = domain.db
  const [rows, waiting] = await Promise.all([
    sql.query<Row>(rowsSql, [jobIds], 'estimate_of'),
    waitingOf(domain, jobIds),
  ])
  const pools = new Map(
    await Promise.all(
      [...new Set(rows.map(({ pool }) => pool))].map(async (pool) => [pool, await readPool(sql, pool)] as const),
    ),
  )
  const fitsAt = new Map<string, Date | null>()
  return new Map(
    rows.map((row) => {
      const found = waiting.get(row.jobId)
      const pool = pools.get(row.pool)
      const never = found?.reasons.some(({ code }) => timeless.has(code)) ?? true
      if (never || !found || !pool) return [row.jobId, null]
      const room = fitsAt.has(row.laneId) ? (fitsAt.get(row.laneId) ?? null) : roomAt(row, pool)
      fitsAt.set(row.laneId, room)
      const place = pool.front.findIndex(({ jobId }) => jobId === row.jobId)
      return [row.jobId, room && estimate(row.now, { room, pool, gates: found.gates, before: place })]
    }),
  )
}

/** The same for a job that is not stored, and would wait. */
export async function estimateOf(
  { db: { sql } }: Domain,
  {
    reasons,
    gates,
    position,
    ...row
  }: Pick<Row, 'pool' | 'shape' | 'now'> & Pick<Waiting, 'reasons' | 'gates'> & { position: number },
): Promise<Estimate | null> {
  if (reasons.some(({ code }) => timeless.has(code))) return null
  const pool = await readPool(sql, row.pool)
  const room = roomAt(row, pool)
  const before = position - 1 <= pool.front.length ? position - 1 : -1
  return room && estimate(row.now, { room, pool, gates, before })
}

/** What ends by no clock. */
const timeless: ReadonlySet<string> = new Set([
  'APPROVAL_PENDING',
  'DEPENDENCY',
  'INTERACTIVE_QUOTA',
  'UNSATISFIABLE',
  'POOL_PAUSED',
])

interface Facts {
  room: Date
  pool: PoolNow
  gates: Waiting['gates']
  /** How many of the front come before it; -1: it stands further back. */
  before: number
}

function estimate(now: Date, { room, pool, gates, before }: Facts): Estimate | null {
  const closed = gates.filter(({ open }) => !open)
  if (closed.some(({ opensAt }) => opensAt === null)) return null
  const earliest = latestOf([room, ...closed.flatMap(({ opensAt }) => opensAt ?? [])])
  const until = allBefore(before, pool, now)
  return until === null
    ? { earliest, latest: null, basis: 'The maximum run times of what runs; those of the jobs ahead are not known' }
    : {
        earliest,
        latest: latestOf([earliest, until]),
        basis: 'The maximum run times of what runs and of the jobs ahead',
      }
}

const latestOf = (times: readonly Date[]) => new Date(Math.max(...times.map((time) => time.getTime())))

/** When everybody before it is through, one by one; null: nobody knows. */
function allBefore(before: number, { endings, front }: PoolNow, now: Date): Date | null {
  const ahead = front.slice(0, Math.max(0, before))
  if (before < 0 || endings.length >= endingsMax || ahead.some(({ runSeconds }) => runSeconds === null)) return null
  if (endings.some(({ endsAt }) => endsAt === null)) return null
  const free = latestOf([now, ...endings.flatMap(({ endsAt }) => endsAt ?? [])])
  const seconds = ahead.reduce((sum, { runSeconds }) => sum + (runSeconds ?? 0), 0)
  return new Date(free.getTime() + seconds * 1_000)
}

/** When the job would fit if nobody took what becomes free; null: not by the end of what has a known end. */
function roomAt({ shape, now }: Pick<Row, 'shape' | 'now'>, { nodes, endings }: PoolNow): Date | null {
  if (place(shape, nodes)) return now
  const known = endings.filter((each): each is Ending & { endsAt: Date } => each.endsAt !== null)
  let [low, high] = [0, known.length]
  if (!place(shape, after(nodes, known))) return null
  while (low + 1 < high) {
    const middle = (low + high) >> 1
    if (place(shape, after(nodes, known.slice(0, middle)))) high = middle
    else low = middle
  }
  const last = known[high - 1]
  return last ? latestOf([now, last.endsAt]) : null
}

function after(nodes: readonly FreeNode[], endings: readonly Ending[]): FreeNode[] {
  const left = new Map(nodes.map((node) => [node.id, structuredClone(node)]))
  for (const placement of endings.flatMap(({ placements }) => placements)) {
    const node = left.get(placement.nodeId)
    if (node) giveBack(node, placement)
  }
  return [...left.values()]
}

async function readPool(sql: Sql, pool: string): Promise<PoolNow> {
  const [nodes, endings, front] = await Promise.all([
    readNodes(sql, pool),
    sql.query<Ending>(endingsSql, [pool, endingsMax], 'endings'),
    readLine(sql, pool, { after: null, limit: frontMax }),
  ])
  return { nodes, endings, front }
}

const rowsSql = `
SELECT q.job_id AS "jobId", q.pool, q.lane_id::text AS "laneId", l.shape, berth_now() AS now
FROM queue_entry q JOIN lane l ON l.id = q.lane_id WHERE q.job_id = ANY($1::text[])`

const endingsSql = `
SELECT coalesce(r.started_at, berth_now()) + l.run_seconds * interval '1 second' AS "endsAt",
  coalesce((SELECT jsonb_agg(jsonb_build_object('nodeId', a.node_id, 'node', '', 'replica', a.replica, 'cpuMillis', a.cpu_millis,
      'memoryBytes', a.memory_bytes, 'infiniband', a.infiniband, 'interactive', l.interactive,
      'gpuIds', CASE WHEN a.replica = (SELECT min(b.replica) FROM allocation b WHERE b.run_id = r.id AND b.node_id = a.node_id) THEN coalesce((SELECT jsonb_agg(c.device) FROM device_claim c
        WHERE c.run_id = r.id AND c.node_id = a.node_id), '[]') ELSE '[]' END))
    FROM allocation a WHERE a.run_id = r.id), '[]') AS placements
FROM run r JOIN job j ON j.id = r.job_id JOIN lane l ON l.id = j.lane_id
WHERE r.pool = $1 AND r.state IN ('STARTING', 'RUNNING', 'CANCELLING')
ORDER BY 1 NULLS LAST LIMIT $2`
