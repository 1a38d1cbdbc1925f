import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createViewer, type Viewer } from '../src/domain/access.ts'
import { type Domain, topics } from '../src/domain/domain.ts'
import { newId } from '../src/domain/ids.ts'
import { setScopeLimit } from '../src/domain/limits/limits.ts'
import { applyQuotas } from '../src/domain/limits/stored-quotas.ts'
import { applyPools, ensureLocalUser } from '../src/domain/machines/pools.ts'
import { findViolations } from '../src/domain/selfcheck/selfcheck.ts'
import { holdingSql } from '../src/domain/state.ts'
import { systemClock, type Time } from '../src/platform/clock.ts'
import { openDb } from '../src/platform/db.ts'
import { createLog } from '../src/platform/log.ts'
import { migrate } from '../src/platform/migrate.ts'
import { startPostgres } from '../src/platform/postgres/postgres.ts'
import { Wakeups } from '../src/platform/wakeup.ts'
import { createWorld } from '../src/scheduler/plan/world.ts'
import { createStoredPool } from '../src/scheduler/stored-pool.ts'
import { type Person, type PoolPlan, people, teams } from './actions.ts'
import { DatabaseActor, type Stand } from './database-actor.ts'
import { randomPlan } from './plans.ts'
import { Random } from './random.ts'
import { createResult, listUndoneDecisions, type Result, type Stage, simulate } from './simulation.ts'

/**
 * Seeds over PostgreSQL, with the product's own verbs and tables. The seed decides the time: the database's clock
 * is stopped, and the process gets a later time with each read, so that ids are in order.
 */
const pool = 'sim'
const holder = 'simulated'
const beganMs = Date.UTC(2026, 0, 1)
const connectionsMax = 4
const frequencies = { restsPerLook: 4, stepsPerLook: 10 }

/** Runs `work` with one PostgreSQL for all seeds, and removes it afterwards. */
export async function withTemplate(work: (templateUrl: string) => Promise<unknown>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-simulate-'))
  await chmod(dataDir, 0o711) // Under root the database runs as another account.
  const log = createLog('error')
  const postgres = await startPostgres({ dataDir, log, clock: systemClock, durable: false })
  try {
    await migrate(postgres.url, log)
    await work(postgres.url)
  } finally {
    await postgres.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

export async function simulateInDatabase(templateUrl: string, seed: number, steps: number): Promise<Result> {
  const template = new URL(templateUrl)
  const name = `seed_${seed}_${randomUUID().slice(0, 8)}`
  await administer(template, `CREATE DATABASE ${name} TEMPLATE ${template.pathname.slice(1)}`)
  const random = new Random(seed)
  try {
    await using stage = await openStage(Object.assign(new URL(template), { pathname: name }).href, randomPlan(random))
    return await simulate(stage, { random, result: createResult(seed), steps }, frequencies)
  } finally {
    await administer(template, `DROP DATABASE ${name} WITH (FORCE)`)
  }
}

/** Uses its own session, because a template must not have sessions while it is copied. */
async function administer(template: URL, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: Object.assign(new URL(template), { pathname: 'postgres' }).href })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

async function openStage(url: string, planned: PoolPlan): Promise<Stage & AsyncDisposable> {
  const log = createLog('silent')
  const db = openDb({ address: { url }, connectionsMax, log, applicationName: 'berth simulate' })
  let nowMs = beganMs
  const setTime = () =>
    db.sql.query(`CREATE OR REPLACE FUNCTION berth_now() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE
      AS $$ SELECT to_timestamp(${nowMs} / 1000.0) $$`)
  await setTime()
  const wakeups = new Wakeups({ address: null, topics, clock: systemClock, log })
  const domain: Domain = { db, wakeups, log, clock: systemClock, time: ticking(() => nowMs), singleUser: true }
  const { admin, viewers } = await prepare(domain, planned)
  let epoch = 0
  const depose = async () => {
    epoch += 1
    await db.sql.query(
      `INSERT INTO scheduler_leader (pool, epoch, holder, host) VALUES ($1, $2, $3, 'simulated')
       ON CONFLICT (pool) DO UPDATE SET epoch = excluded.epoch`,
      [pool, epoch, holder],
    )
  }
  const stand: Stand = {
    domain,
    admin,
    viewers,
    nowMs: () => nowMs,
    async passTime(ms) {
      nowMs += ms
      await setTime()
    },
    epoch: () => epoch,
  }
  return {
    actor: new DatabaseActor(stand),
    async lead() {
      await depose()
      return createStoredPool(domain, { pool, epoch, holder })
    },
    depose,
    async broken() {
      return (await findViolations(db.sql)).map(({ rule, message }) => `${rule}: ${message}`)
    },
    brokenAtRest: () => brokenAtRest(domain, epoch),
    async [Symbol.asyncDispose]() {
      await wakeups.stop()
      await db.close()
    },
  }
}

function ticking(nowMs: () => number): Time {
  let looks = 0
  return { nowMs: () => nowMs() + ++looks }
}

async function prepare(domain: Domain, planned: PoolPlan) {
  const { policy, nodes, limits, models, planning, quotas } = planned
  await applyPools(domain, {
    pools: [{ name: pool, policy, executors: ['simulated'], relaxReplicas: true, nodes, limits, ...planning }],
    queues: [{ name: 'default', pool, native: {} }],
  })
  const id = await ensureLocalUser(domain, 'local')
  const admin = createViewer({ id, name: 'local', level: 'ADMIN', allow: [], deny: [] })
  const entries: [string, Viewer][] = []
  for (const [name, level] of Object.entries(people)) {
    const userId = newId('user', domain.time.nowMs())
    const allow = ['job.submit', 'job.view.all']
    await domain.db.sql.query('INSERT INTO "user" (id, name, level, allow) VALUES ($1, $2, $3::user_level, $4)', [
      userId,
      name,
      level,
      allow,
    ])
    entries.push([name, createViewer({ id: userId, name, level, allow, deny: [] })])
  }
  for (const account of teams)
    await domain.db.sql.query(
      `WITH made AS (INSERT INTO team (id, name, account) VALUES ($1, $2, $2) RETURNING id)
       INSERT INTO team_member (team_id, user_id) SELECT made.id, u.id FROM made, "user" u`,
      [newId('team', domain.time.nowMs()), account],
    )
  await applyQuotas(domain, quotas)
  for (const model of models) await setScopeLimit(domain, admin, { pool, scope: 'QUEUE', name: 'default', ...model })
  return { admin, viewers: Object.fromEntries(entries) as Record<Person, Viewer> }
}

/** Compares the views and the plan of a new leader with those of the present one. */
async function brokenAtRest(domain: Domain, epoch: number): Promise<string[]> {
  const { sql } = domain.db
  const news = await sql.query('SELECT 1 FROM pool_change LIMIT 1')
  if (news.length > 0) return []
  const fresh = createWorld(await createStoredPool(domain, { pool, epoch, holder }).load())
  const off = await sql.query<{ what: string }>(shownSql)
  return [...listUndoneDecisions(fresh), ...off.map(({ what }) => what)]
}

const shownSql = `
SELECT format('The lane %s has %s and shows %s', lane_id, has.waiting, v.waiting) AS what
FROM (SELECT lane_id, count(*) AS waiting FROM queue_entry WHERE open GROUP BY 1) has
FULL JOIN lane_view v USING (lane_id) WHERE has.waiting IS DISTINCT FROM v.waiting
UNION ALL
SELECT format('The account %s has %s running and %s queued, and shows %s and %s', account, has.running, has.queued, v.running, v.queued)
FROM (
  SELECT l.account, count(*) FILTER (WHERE j.state <> 'QUEUED') AS running, count(*) FILTER (WHERE q.open) AS queued
  FROM job j JOIN lane l ON l.id = j.lane_id LEFT JOIN queue_entry q ON q.job_id = j.id
  WHERE j.state IN ${holdingSql} OR q.open GROUP BY 1
) has FULL JOIN account_view v USING (account)
WHERE has.running IS DISTINCT FROM v.running OR has.queued IS DISTINCT FROM v.queued`
