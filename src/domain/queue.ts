import type { Sql } from '../platform/tx.ts'
import type { Viewer } from './access.ts'
import { holdsSql } from './dependencies.ts'
import type { Domain } from './domain.ts'
import { NotFound } from './errors.ts'
import { type Ceilings, type Counted, fullScopes, heldBack, readCeilings } from './in-use.ts'
import { type Limits, limitsOf } from './limits.ts'
import { readNodes } from './nodes.ts'
import { couldEverFit, type FreeNode, place } from './placement.ts'
import { because, blockedBy, limitedBy, noCapacity, type Reason, unsatisfiable } from './reason.ts'
import { inWords, shapeOf } from './shape.ts'
import type { JobSpec } from './spec.ts'
import { holdingStates, type JobState } from './state.ts'

/** What people are told about waiting: the numbers of a pool's queue, and why a job waits and for how long. */
export interface QueueNumbers {
  pool: string
  depth: number
  running: number
  blocked: number
  avgWaitSeconds: number | null
  byState: { state: JobState; count: number }[]
  /** Own row only without job.view.all. */
  byUser: { userId: string; count: number }[]
  limits: Limits
  at: Date
}

/** `pool` null: the one that the default queue leads to. */
export async function queueNumbers(domain: Domain, viewer: Viewer, pool: string | null): Promise<QueueNumbers> {
  return numbersFor(viewer, await poolNumbers(domain, pool, [viewer.userId]))
}

/** People in `byUser` at most: those with the most jobs. */
const peopleMax = 1_000

/** What is there, whoever asks; the rows of `users` are in it whatever their place. Not to be shown as it is. */
export async function poolNumbers(
  { db, singleUser }: Domain,
  pool: string | null,
  users: readonly string[],
): Promise<QueueNumbers> {
  const [row] = await db.sql.query<Omit<QueueNumbers, 'limits'>>(numbersSql, [pool, users, peopleMax], 'queue_numbers')
  const limits = row && (await limitsOf(db.sql, [row.pool], singleUser)).get(row.pool)
  if (!limits) throw new NotFound(`There is no pool ${pool ?? ''}`)
  const count = (states: readonly JobState[]) =>
    row.byState.reduce((sum, entry) => sum + (states.includes(entry.state) ? entry.count : 0), 0)
  return { ...row, limits, depth: count(['QUEUED']), running: count(holdingStates), blocked: count(['BLOCKED']) }
}

/** What of it this viewer may see. */
export function numbersFor(viewer: Viewer, numbers: QueueNumbers): QueueNumbers {
  const byUser = viewer.permissions.has('job.view.all')
    ? numbers.byUser.slice(0, peopleMax)
    : numbers.byUser.filter(({ userId }) => userId === viewer.userId)
  return { ...numbers, byUser }
}

const numbersSql = `
WITH chosen AS (
  SELECT name FROM pool WHERE name = coalesce($1, (SELECT pool FROM submission_queue WHERE is_default))
),
alive AS MATERIALIZED (
  SELECT state, user_id FROM job JOIN chosen ON job.pool = chosen.name WHERE NOT log_closed
)
SELECT name AS pool, berth_now() AS at,
  coalesce((SELECT jsonb_agg(s) FROM (SELECT state, count(*) AS count FROM alive GROUP BY state ORDER BY state) s), '[]') AS "byState",
  coalesce((SELECT jsonb_agg(jsonb_build_object('userId', user_id, 'count', count) ORDER BY place)
    FROM (SELECT user_id, count(*) AS count, row_number() OVER (ORDER BY count(*) DESC, user_id) AS place
      FROM alive GROUP BY user_id) u
    WHERE place <= $3::int OR user_id = ANY($2::text[])), '[]') AS "byUser",
  (SELECT extract(epoch FROM avg(r.scheduled_at - greatest(j.eligible_at, r.created_at)))::float8 FROM run r JOIN job j ON j.id = r.job_id
    WHERE r.pool = name AND r.scheduled_at > berth_now() - interval '24 hours') AS "avgWaitSeconds"
FROM chosen`

export interface Waiting {
  position: number
  reasons: Reason[]
  gates: { code: string; open: boolean; detail: string | null; opensAt: Date | null }[]
  fit: { freeNow: boolean; couldEverFit: boolean; missing: string[] }
}

interface WaitingRow extends Counted {
  id: string
  pool: string
  spec: JobSpec
  notBefore: Date | null
  eligibleAt: Date
  now: Date
  ahead: number
  /** The first that nothing but the machines can keep waiting. */
  firstAhead: string | null
  openDependency: string | null
}

interface PoolNow {
  nodes: readonly FreeNode[]
  ceilings: Ceilings
}

/** For every QUEUED job among `jobIds`: its place in line and why it waits. A few statements for each pool. */
export async function waitingOf(domain: Domain, jobIds: readonly string[]): Promise<ReadonlyMap<string, Waiting>> {
  const { sql } = domain.db
  const named = await sql.query<{ pool: string }>(poolsSql, [jobIds], 'pools_of_waiting')
  const pools = new Map(await Promise.all(named.map(async ({ pool }) => [pool, await readPool(domain, pool)] as const)))
  const full = [...pools].map(([pool, { ceilings }]) => ({ pool, scopes: fullScopes(ceilings) }))
  const rows = await sql.query<WaitingRow>(waitingSql, [jobIds, JSON.stringify(full)], 'waiting_of')
  return new Map(rows.map((row) => [row.id, explain(row, pools.get(row.pool) ?? emptyPool(row.pool))]))
}

async function readPool({ db: { sql }, singleUser }: Domain, pool: string): Promise<PoolNow> {
  const [nodes, ceilings] = await Promise.all([readNodes(sql, pool), readCeilings(sql, pool, singleUser)])
  return { nodes, ceilings }
}

const emptyPool = (pool: string): PoolNow => ({ nodes: [], ceilings: { pool, rules: [], tally: new Map() } })

const poolsSql = 'SELECT DISTINCT pool FROM queue_entry WHERE job_id = ANY($1::text[])'

const waitingSql = `
SELECT j.id, j.pool, j.spec, j.not_before AS "notBefore", q.eligible_at AS "eligibleAt", berth_now() AS now,
  j.user_id AS "userId", u.name AS "userName", j.team_id AS "teamId", t.name AS team, j.queue, j.project, j.gpu,
  (SELECT count(*) FROM queue_entry a WHERE a.pool = q.pool AND a.sequence < q.sequence) AS ahead,
  (SELECT a.job_id FROM queue_entry a WHERE a.pool = q.pool AND a.sequence < q.sequence AND a.eligible_at <= berth_now()
    AND NOT a.scopes && coalesce(f.scopes, '{}') ORDER BY a.sequence LIMIT 1) AS "firstAhead",
  (SELECT o.id FROM dependency d JOIN job o ON o.id = d.on_job_id WHERE d.job_id = j.id AND NOT ${holdsSql}
    ORDER BY d.position LIMIT 1) AS "openDependency"
FROM queue_entry q JOIN job j ON j.id = q.job_id JOIN "user" u ON u.id = j.user_id LEFT JOIN team t ON t.id = j.team_id
LEFT JOIN jsonb_to_recordset($2::text::jsonb) AS f(pool text, scopes text[]) ON f.pool = q.pool
WHERE q.job_id = ANY($1::text[])`

function explain(row: WaitingRow, { nodes, ceilings }: PoolNow): Waiting {
  const shape = shapeOf(row.spec.resources)
  const freeNow = place(shape, nodes) !== null
  const fit = { freeNow, couldEverFit: couldEverFit(shape, nodes), missing: freeNow ? [] : [inWords(shape)] }
  const gates = gatesOf(row)
  const ahead = row.firstAhead
  const reason =
    gateReason(gates, row.openDependency) ??
    (fit.couldEverFit ? limitReason(ceilings, row) : unsatisfiable(inWords(shape))) ??
    (ahead ? blockedBy(ahead) : noCapacity(inWords(shape)))
  return { position: row.ahead + 1, gates, fit, reasons: [reason] }
}

type GateRow = Pick<WaitingRow, 'notBefore' | 'eligibleAt' | 'now' | 'openDependency'>

function gatesOf({ notBefore, eligibleAt, now, openDependency }: GateRow): Waiting['gates'] {
  const gates: Waiting['gates'] = []
  if (notBefore) gates.push({ code: 'NOT_BEFORE', open: notBefore <= now, detail: null, opensAt: notBefore })
  if (eligibleAt > now && (!notBefore || notBefore < eligibleAt))
    gates.push({ code: 'RESTART_BACKOFF', open: false, detail: null, opensAt: eligibleAt })
  if (openDependency) gates.push({ code: 'DEPENDENCY', open: false, detail: openDependency, opensAt: null })
  return gates
}

function gateReason(gates: Waiting['gates'], openDependency: string | null): Reason | null {
  const closed = gates.find((gate) => !gate.open)
  if (!closed) return null
  if (closed.code === 'DEPENDENCY') return because(closed.code, `Waits for the job ${openDependency}`, openDependency)
  return because(closed.code, `Waits until ${closed.opensAt?.toISOString()}`)
}

/** A limit of a GPU model is told by the leader alone: it depends on the devices that the job would get. */
function limitReason(ceilings: Ceilings, job: Counted): Reason | null {
  const held = heldBack(ceilings, job)
  return held && limitedBy(held)
}

/** What a job that is not stored would meet: the end of the line, and whether a gate of its own is closed. */
export async function standingOf(
  sql: Sql,
  pool: string,
  spec: JobSpec,
): Promise<{ position: number; gate: Reason | null }> {
  const notBefore = spec.notBefore ? new Date(spec.notBefore) : null
  const [row] = await sql.query<{ now: Date; ahead: number; openDependency: string | null }>(standingSql, [
    pool,
    JSON.stringify(spec.dependsOn),
  ])
  if (!row) throw new Error('A query without tables has no row')
  const gates = gatesOf({ ...row, notBefore, eligibleAt: row.now })
  return { position: row.ahead + 1, gate: gateReason(gates, row.openDependency) }
}

const standingSql = `
SELECT berth_now() AS now, (SELECT count(*) FROM queue_entry WHERE pool = $1) AS ahead,
  (SELECT o.id FROM jsonb_to_recordset($2::text::jsonb) AS d("jobId" text, "on" text) JOIN job o ON o.id = d."jobId"
    WHERE NOT ${holdsSql} LIMIT 1) AS "openDependency"`
