import { beforeEach, describe, expect, test } from 'vitest'
import { announceNodes, announceSettings } from '../../src/domain/changes.ts'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import { type Move, transition } from '../../src/domain/jobs/transition.ts'
import { Fenced } from '../../src/domain/leadership.ts'
import { updateLimits } from '../../src/domain/limits/limits.ts'
import { updateNode } from '../../src/domain/machines/node-changes.ts'
import type { Sql, TransactionOptions } from '../../src/platform/tx.ts'
import { LaneWindow, windowSize } from '../../src/scheduler/plan/lane-window.ts'
import type { ReceivedChanges, Store } from '../../src/scheduler/plan/leader-store.ts'
import type { Change, Decisions } from '../../src/scheduler/plan/model.ts'
import { planPass } from '../../src/scheduler/plan/plan.ts'
import { toLeaf } from '../../src/scheduler/plan/share-tree.ts'
import { createWorld } from '../../src/scheduler/plan/world.ts'
import { createStoredPool } from '../../src/scheduler/stored-pool.ts'
import { createTicker } from '../../src/scheduler/ticker.ts'
import { openTestDomainForEach, simDevices, simNode } from '../support/domain.ts'
import { submitJobs } from '../support/submit-jobs.ts'

const { database, it, sql } = openTestDomainForEach({ nodes: [{ ...simNode, devices: simDevices(2) }] })
let store: Store

const leader = { pool: 'sim', epoch: 1, holder: 'test' }

beforeEach(async () => {
  await sql("INSERT INTO scheduler_leader (pool, epoch, holder, host) VALUES ('sim', 1, 'test', 'test')")
  store = createStoredPool(it.domain, leader)
})

const nobody = { has: () => false }
const told = ({ changes }: ReceivedChanges) => changes.map(({ kind }: Change) => kind)
const stateOf = async (id: string) =>
  (await sql<{ state: string }>('SELECT state FROM job WHERE id = $1', [id]))[0]?.state
const move = (jobId: string, step: Pick<Move, 'from' | 'to' | 'reason'>) =>
  transition(database.db.sql, [{ jobId, run: 1, ...step }], it.domain.time.nowMs())
const ends = async (jobId: string) => {
  await move(jobId, { from: 'STARTING', to: 'RUNNING', reason: null })
  await move(jobId, { from: 'RUNNING', to: 'SUCCEEDED', reason: null })
}

/** Loads a world, and returns all decisions that the planner would make now. */
async function decided(startsMax = 50): Promise<{ decisions: Decisions; revision: number }> {
  const world = createWorld(await store.load())
  return { decisions: planPass(world, { startsMax }), revision: world.state.settings.revision }
}

test('a new leader knows the service order and the usage of the accounts', async () => {
  await sql(
    `UPDATE pool SET policy = 'FAIR_SHARE', scheduling = '{"shareHalfLifeMs": 60000, "nonPreemptableFraction": 1}'`,
  )
  const leafIn = (account: string) => toLeaf({ account, userId: it.admin.userId })
  const accounts = ['users.local.a', 'users.local.b', 'users.local.c']
  await sql(`UPDATE pool SET weights = '{"users.local.a": 1, "users.local.b": 1, "users.local.c": 1}'`)
  const ids: string[] = []
  for (const account of accounts) ids.push(await it.submit({ account, resources: { cpu: 1 } }))
  const { decisions, revision } = await decided()
  await store.commit(decisions, revision)
  const order = decisions.starts.map(({ lane }) => lane.account)
  expect(order.toSorted()).toEqual(accounts)
  await database.moveTime(60_000)
  for (const id of ids.slice(0, 2)) await ends(id)
  await database.moveTime(60_000)
  const snapshot = await store.load()
  expect(snapshot.served).toMatchObject(
    order.map((account) => ({ leaf: leafIn(account), amounts: { cpu: 1_000, gpu: 0 } })),
  )
  const { cpu = 0 } = snapshot.decayedUse.get(leafIn(accounts[0] ?? '')) ?? {}
  expect(cpu / 1_000).toBeCloseTo(0.25, 1)
  const { accounts: shares } = createWorld(snapshot).state.machines
  expect(shares.served).toEqual(order.map(leafIn))
  expect(snapshot.decayedUse.get(leafIn(accounts[2] ?? ''))?.cpu).toBeCloseTo(750, -1.5)
})

describe('the changes that the leader reads', () => {
  test('contain every change once, in order, with the new lanes', async () => {
    await store.load()
    const first = await it.submit()
    const second = await it.submit()
    await cancelJob(it.domain, it.admin, { jobId: second })
    const heard = await store.changes(nobody)
    expect(told(heard)).toEqual(['JOINED', 'JOINED', 'LEFT'])
    expect(heard.lanes).toMatchObject([{ lane: { pool: 'sim', interactive: false }, userName: 'local', team: null }])
    expect(heard.changes[0]).toMatchObject({ entry: { jobId: first, run: 1, bid: 0 } })
    expect(told(await store.changes(nobody))).toEqual([])
    await announceNodes(database.db.sql, 'sim')
    await updateLimits(it.domain, it.admin, { maxConcurrent: 3 })
    const set = await store.changes(nobody)
    expect(told(set)).toEqual(['NODES', 'SETTINGS'])
    expect(set.changes[1]).toMatchObject({ settings: { revision: expect.any(Number), rules: [{ max: 3 }] } })
  })

  test('do not contain changes that were already loaded', async () => {
    await it.submit()
    const { lanes } = await store.load()
    expect(lanes).toMatchObject([{ waiting: 1, first: [{ run: 1 }] }])
    expect(told(await store.changes(nobody))).toEqual([])
    await it.submit()
    expect(told(await store.changes(nobody))).toEqual(['JOINED'])
  })

  test('contain the current state of a run, or null if the run holds no resources', async () => {
    const id = await it.submit({ resources: { gpu: 2 } })
    const { decisions, revision } = await decided()
    await store.commit(decisions, revision)
    await move(id, { from: 'STARTING', to: 'RUNNING', reason: null })
    const heard = await store.changes(nobody)
    expect(heard.changes.find(({ kind }) => kind === 'RUN')).toMatchObject({
      running: { jobId: id, state: 'RUNNING', leaving: false, placements: [{ node: 'n1', gpuIds: [0, 1] }] },
    })
    await move(id, { from: 'RUNNING', to: 'SUCCEEDED', reason: null })
    expect((await store.changes(nobody)).changes).toMatchObject([{ kind: 'RUN', running: null }])
  })

  test('contain with the end of a run whether its preemption was recorded', async () => {
    const ids = [await it.submit(), await it.submit()]
    const { decisions, revision } = await decided()
    await store.commit(decisions, revision)
    const runs = decisions.starts.map(({ entry }) => entry.runId)
    await sql(
      `INSERT INTO preemption (id, pool, epoch, tier, claimant_job_id, claimant, victim_job_id, victim_run_id, victim, shares)
       VALUES ('preemption_1', 'sim', 1, 1, 'job_other', 'b', $1, $2, 'a', '{}')`,
      [decisions.starts[0]?.entry.jobId, runs[0]],
    )
    await store.changes(nobody)
    for (const id of ids) await ends(id)
    const { changes } = await store.changes(nobody)
    const spared = new Map(changes.flatMap((one) => (one.kind === 'RUN' ? [[one.runId, one.isSpared] as const] : [])))
    expect(runs.map((runId) => spared.get(runId))).toEqual([false, true])
  })

  test('open a job at its start time, and announce that time in advance', async () => {
    await store.load()
    const at = new Date(Date.now() + 60_000)
    await it.submit({ notBefore: at.toISOString() })
    const early = await store.changes(nobody)
    expect(told(early)).toEqual([])
    expect((await store.changes(nobody)).nextDueMs).toBe(at.getTime())
    await database.moveTime(60_001)
    expect(told(await store.changes(nobody))).toEqual(['JOINED'])
    expect((await store.changes(nobody)).nextDueMs).toBeNull()
  })

  test('open a job when its dependency ends, and its waiting time begins then', async () => {
    const first = await it.submit()
    const second = await it.submit({ dependsOn: [{ jobId: first }] })
    const { decisions, revision } = await decided()
    await store.commit(decisions, revision)
    await store.changes(nobody)
    await database.moveTime(10_000)
    await ends(first)
    const kinds: string[] = []
    for (let more = true; more; ) {
      const heard = await store.changes(nobody)
      kinds.push(...told(heard))
      more = heard.more
    }
    expect(kinds).toEqual(['RUN', 'JOINED'])
    const [row] = await sql<{ waited: number }>(
      'SELECT extract(epoch FROM eligible_at - created_at)::float8 AS waited FROM job WHERE id = $1',
      [second],
    )
    expect(row?.waited).toBeGreaterThanOrEqual(10)
  })

  test('contain gates that are due even if their change row is missing', async () => {
    await store.load()
    const id = await it.submit({ notBefore: new Date(Date.now() + 60_000).toISOString() })
    await store.changes(nobody)
    await sql("UPDATE queue_entry SET eligible_at = berth_now() - interval '1 hour'")
    await sql("DELETE FROM pool_change WHERE kind = 'GATED'")
    expect(told(await store.changes(nobody))).toEqual([])
    await database.moveTime(31_000)
    expect((await store.changes(nobody)).changes).toMatchObject([{ kind: 'JOINED', entry: { jobId: id } }])
  })
})

describe('a commit', () => {
  test('leaves out a job that was cancelled meanwhile, and starts the others', async () => {
    const [gone, stays] = [await it.submit(), await it.submit()]
    const { decisions, revision } = await decided()
    await cancelJob(it.domain, it.admin, { jobId: gone })
    const committed = await store.commit(decisions, revision)
    expect([await stateOf(gone), await stateOf(stays)]).toEqual(['CANCELLED', 'STARTING'])
    const [started] = (await store.load()).running
    expect(started?.jobId).toBe(stays)
    const sinceMs = new Map([[stays, started?.sinceMs]])
    expect(committed).toEqual({ kind: 'committed', lost: [gone], sinceMs })
  })

  test('rejects decisions that were planned with outdated settings', async () => {
    const id = await it.submit()
    const { decisions, revision } = await decided()
    await announceSettings(database.db.sql, 'sim')
    expect(await store.commit(decisions, revision)).toEqual({ kind: 'stale' })
    expect(await stateOf(id)).toBe('QUEUED')
  })

  test('reports a conflict and writes nothing if a GPU is not free', async () => {
    const ids = [await it.submit({ resources: { gpu: 1 } }), await it.submit()]
    const { decisions, revision } = await decided()
    const other = await it.submit({ resources: { gpu: 1 } })
    const [run] = await sql<{ id: string }>('SELECT id FROM run WHERE job_id = $1', [other])
    await sql('INSERT INTO device_claim (node_id, device, run_id) SELECT id, 0, $1 FROM node', [run?.id])
    expect(await store.commit(decisions, revision)).toEqual({ kind: 'conflict' })
    expect(await Promise.all(ids.map(stateOf))).toEqual(['QUEUED', 'QUEUED'])
    await sql('DELETE FROM device_claim')
  })

  test('is stale if a node was cordoned while the settings and the nodes were read', async () => {
    await store.load()
    const [node] = await sql<{ id: string }>('SELECT id FROM node')
    let isCordoned = false
    const cordonAfterFirst = async (text: string) => {
      if (isCordoned || !(text.includes('FROM pool WHERE name') || text.includes('n.backs_off_until'))) return
      isCordoned = true
      await updateNode(it.domain, it.admin, { id: node?.id, state: 'CORDONED' })
    }
    const { db } = it.domain
    const interrupted: typeof db = Object.create(db, {
      transaction: {
        value: (work: (sql: Sql) => Promise<unknown>, options?: TransactionOptions) =>
          db.transaction((sql) => {
            const query: Sql['query'] = async (...args) => {
              const rows = await sql.query<never>(...args)
              await cordonAfterFirst(args[0])
              return rows
            }
            return work({ query })
          }, options),
      },
    })
    await announceNodes(database.db.sql, 'sim')
    await announceSettings(database.db.sql, 'sim')
    const heard = await createStoredPool({ ...it.domain, db: interrupted }, leader).changes(nobody)
    const settings = heard.changes.find((change) => change.kind === 'SETTINGS')?.settings
    expect(isCordoned).toBe(true)
    const { decisions } = await decided()
    expect(await store.commit(decisions, settings?.revision ?? 0)).toEqual({ kind: 'stale' })
    await updateNode(it.domain, it.admin, { id: node?.id, state: 'READY' })
  })

  test('a leader of an old epoch cannot read changes, commit or publish', async () => {
    const id = await it.submit()
    const { decisions, revision } = await decided()
    await it.submit()
    await sql('UPDATE scheduler_leader SET epoch = 2')
    const before = await sql('SELECT count(*) FROM pool_change')
    await expect(store.changes(nobody)).rejects.toThrow(Fenced)
    await expect(store.commit(decisions, revision)).rejects.toThrow(Fenced)
    await expect(store.load()).rejects.toThrow(Fenced)
    const rows = { lanes: new Map(), plans: new Map([[id, null]]), accounts: new Map(), isNews: true }
    await expect(store.publish(rows)).rejects.toThrow(Fenced)
    expect(await stateOf(id)).toBe('QUEUED')
    expect(await sql('SELECT count(*) FROM pool_change')).toEqual(before)
  })
})

test('the first publication replaces all rows of an earlier leader, and later ones replace single rows', async () => {
  const [id, other] = [await it.submit(), await it.submit()]
  await sql("INSERT INTO hold (id, pool, job_id, kind, placements) VALUES ('hold_o', 'sim', $1, 'PLANNED', '[]')", [
    other,
  ])
  const { lanes } = await store.load()
  const laneId = lanes[0]?.lane.id ?? ''
  const lane = {
    waiting: 1,
    headJobId: id,
    headBid: 0,
    headSequence: 1,
    priority: 30,
    reason: null,
    consideredMs: 1_000,
  }
  const account = { occupancy: 0.25, decayedUse: null, share: 0.25, weight: 1, running: 1, queued: 1 }
  await store.publish({
    lanes: new Map([[laneId, lane]]),
    plans: new Map([[id, { placements: [], expectedMs: 60_000 }]]),
    accounts: new Map([['a', account]]),
    isNews: true,
  })
  const planned = () => sql('SELECT job_id, expected_at FROM hold')
  expect(await planned()).toEqual([{ job_id: id, expected_at: new Date(60_000) }])
  expect(await sql('SELECT waiting, head_job_id, reason FROM lane_view')).toEqual([
    { waiting: 1, head_job_id: id, reason: null },
  ])
  await store.publish({
    lanes: new Map([[laneId, null]]),
    plans: new Map([[id, null]]),
    accounts: new Map(),
    isNews: true,
  })
  expect(await planned()).toEqual([])
  expect(await sql('SELECT account, occupancy FROM account_view')).toEqual([{ account: 'a', occupancy: 0.25 }])
  expect(await sql('SELECT * FROM lane_view')).toEqual([])
})

test('planned starts of an earlier leader are not loaded as holds', async () => {
  const id = await it.submit()
  await sql("INSERT INTO hold (id, pool, job_id, kind, placements) VALUES ('hold_p', 'sim', $1, 'PLANNED', '[]')", [id])
  expect((await store.load()).holds).toEqual([])
})

test('servers that show the queue are woken only by changes that they show', async () => {
  let told = 0
  const unlisten = it.domain.wakeups.on('view', () => told++)
  const revision = async () => (await sql<{ revision: number }>('SELECT revision FROM pool_view'))[0]?.revision
  const id = await it.submit()
  const [state] = (await store.load()).lanes
  const head = { waiting: 1, headJobId: id, headBid: 0, headSequence: 1, priority: 30 }
  const showLane = (reason: string | null, consideredMs: number, isNews: boolean) =>
    store.publish({
      lanes: new Map([[state?.lane.id ?? '', { ...head, reason, consideredMs }]]),
      plans: new Map(),
      accounts: new Map(),
      isNews,
    })
  await showLane('NO_CAPACITY', 1_000, false)
  // The rows of the earlier leader were removed.
  expect([await revision(), told]).toEqual([1, 1])
  await showLane('NO_CAPACITY', 2_000, false)
  expect([await revision(), told]).toEqual([1, 1])
  expect(await sql('SELECT extract(epoch FROM considered_at)::int AS at FROM lane_view')).toEqual([{ at: 2 }])
  await showLane('GLOBAL_LIMIT', 2_000, true)
  expect([await revision(), told]).toEqual([2, 2])
  unlisten()
})

test('the window of a lane is read in order, higher bids first', async () => {
  await it.domain.db.sql.query("UPDATE pool SET policy = 'FAIR_SHARE'")
  const ids = [await it.submit(), await it.submit({ bid: 1 }), await it.submit({ bid: 42 })]
  const { lanes } = await store.load()
  const laneId = lanes[0]?.lane.id ?? ''
  const first = (await store.first([laneId])).get(laneId)
  expect(first?.map(({ jobId }) => jobId)).toEqual([ids[2], ids[1], ids[0]])
  expect(first).toEqual(lanes[0]?.first)
})

test('every read of a lane that has more jobs than a window says so', async () => {
  const specs = Array.from({ length: windowSize + 1 }, () => ({ spec: { command: ['true'] } }))
  await submitJobs(it.domain, it.admin, specs)
  const [state] = (await store.load()).lanes
  if (!state) throw new Error('No lane was read')
  const laneId = state.lane.id
  expect(state).toMatchObject({ waiting: windowSize + 1, first: { length: windowSize } })
  const window = new LaneWindow(state)
  window.refill((await store.first([laneId])).get(laneId) ?? [])
  let taken = 0
  for (; window.head; taken++) window.take(window.head)
  expect(taken).toBe(windowSize)
  expect(window.needsRefill).toBe(true)
})

describe('a leader of an idle pool', () => {
  test('writes no rows and takes no locks', async () => {
    await it.submit({ resources: { cpu: 10_000 } })
    await it.submit({ notBefore: new Date(Date.now() + 3_600_000).toISOString() })
    const ticker = createTicker({ domain: it.domain, leader, store, answerForecasts() {}, publishEveryMs: 0 })
    for (let i = 0; i < 3; i++) await ticker.tick()
    const before = await written()
    for (let i = 0; i < 20; i++) expect(await ticker.tick()).toEqual({ considered: 0, started: 0, preempted: 0 })
    expect(await written()).toEqual(before)
  })

  /** The transactions that last wrote or locked each row, in every table. */
  async function written() {
    const tables = await sql<{ name: string }>(
      "SELECT quote_ident(relname) AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    )
    const parts = tables.map(({ name }) => `SELECT '${name}' AS name, ctid::text, xmin::text, xmax::text FROM ${name}`)
    return sql(`SELECT * FROM (${parts.join(' UNION ALL ')}) rows ORDER BY 1, 2`)
  }
})
