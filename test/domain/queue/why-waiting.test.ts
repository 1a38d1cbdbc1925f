import { beforeAll, expect, test } from 'vitest'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { estimateStarts } from '../../../src/domain/queue/estimate.ts'
import { computeFits } from '../../../src/domain/queue/fit.ts'
import { countReasons } from '../../../src/domain/queue/reason-counts.ts'
import { explainWaiting } from '../../../src/domain/queue/why-waiting.ts'
import { makeReason } from '../../../src/domain/reason.ts'
import { openTestDomain, simNode } from '../../support/domain.ts'
import { createLeader, type TestLeader } from '../../support/leader.ts'

/** These tests write findings of the leader directly into the tables. */
let leader: TestLeader

const { database, it } = await openTestDomain({ nodes: [{ ...simNode, cpuMillis: 2000 }] })
beforeAll(async () => {
  leader = await createLeader(it.domain, 'sim')
})

const sql = (text: string, values: unknown[] = []) => database.db.sql.query<Record<string, unknown>>(text, values)
const about = async (id: string) => (await explainWaiting(it.domain, [id])).get(id)
const codes = async (id: string) => (await about(id))?.reasons.map(({ code }) => code)

const counts = async () =>
  Object.fromEntries((await countReasons(database.db.sql, ['sim'])).map(({ code, count }) => [code, count]))

async function showLane(jobId: string, reason: unknown) {
  await sql(
    `INSERT INTO lane_view SELECT lane_id, pool, 1, job_id, bid, sequence, 0, $2::jsonb, berth_now() FROM queue_entry WHERE job_id = $1
     ON CONFLICT (lane_id) DO UPDATE SET reason = excluded.reason`,
    [jobId, JSON.stringify(reason)],
  )
}

const clear = async () => {
  for (const table of ['queue_entry', 'lane_view', 'pool_change']) await sql(`DELETE FROM ${table}`)
}

test('a job that can never run shows that as the reason, with all of its requirements', async () => {
  const never = await it.submit({ resources: { gpu: 1, gpuMemoryGib: 24, gpuModel: ['a100'], infiniband: true } })
  await showLane(never, null)
  const [reason] = (await about(never))?.reasons ?? []
  expect(reason?.code).toBe('UNSATISFIABLE')
  expect(reason?.message).toContain('1 GPU (24 GiB each; model a100) on one node, InfiniBand')
  await clear()
})

test('the reason of a lane applies to all of its jobs; without one, the reason is computed from the tables', async () => {
  const head = await it.submit({ resources: { cpu: 2 } })
  const behind = await it.submit({ resources: { cpu: 2 } })
  const limited = await it.submit({ project: 'apollo' })
  const withGpu = await it.submit({ resources: { gpu: 1 } })
  const kept = makeReason('HOLD', `The free resources are kept for job ${limited}`, limited)
  await showLane(head, kept)
  await showLane(withGpu, null)
  await showLane(limited, {
    ...makeReason('PROJECT_LIMIT', 'The limit is reached'),
    scope: 'project:apollo',
    limit: 1,
    used: 1,
  })
  for (const id of [head, behind]) expect((await about(id))?.reasons).toEqual([kept])
  expect((await about(limited))?.reasons).toMatchObject([
    { code: 'PROJECT_LIMIT', scope: 'project:apollo', limit: 1, used: 1 },
  ])
  expect((await about(behind))?.lastConsideredAt).toBeInstanceOf(Date)
  expect(await counts()).toEqual({ HOLD: 1, NO_CAPACITY: 2, PROJECT_LIMIT: 1 })
  // The leader has no finding yet; the tables show that no node has a GPU.
  expect(await codes(withGpu)).toEqual(['UNSATISFIABLE'])
  await clear()
})

test('all closed gates of a job are listed first, with the times at which they open', async () => {
  const first = await it.submit()
  const inAnHour = new Date(Date.now() + 3_600_000)
  const id = await it.submit({ notBefore: inAnHour.toISOString(), dependsOn: [{ jobId: first }] })
  await showLane(id, makeReason('USER_LIMIT', 'The limit is reached'))
  expect(await codes(id)).toEqual(['NOT_BEFORE', 'DEPENDENCY', 'USER_LIMIT'])
  expect((await about(id))?.gates).toEqual([
    { code: 'NOT_BEFORE', open: false, detail: null, opensAt: inAnHour },
    { code: 'DEPENDENCY', open: false, detail: first, opensAt: null },
  ])
  expect((await estimateStarts(it.domain, [id])).get(id)).toBeNull()
  await sql('DELETE FROM lane_view')
  const behind = await it.submit({ dependsOn: [{ jobId: first }] })
  await it.submit()
  expect(await codes(behind)).toEqual(['DEPENDENCY'])
  expect(await counts()).toEqual({ NO_CAPACITY: 2, NOT_BEFORE: 1, DEPENDENCY: 1 })
  await clear()
})

test('the window of a capacity reservation is a closed gate before and after the window', async () => {
  const id = await it.submit({ project: 'apollo' })
  const [reserved] = await sql(
    `INSERT INTO capacity_reservation (id, name, pool, project, nodes, starts_at, ends_at)
     VALUES ('reservation_1', 'night', 'sim', 'apollo', '{n1}', berth_now() + interval '1 hour', berth_now() + interval '2 hours')
     RETURNING starts_at AS "startsAt"`,
  )
  await sql(
    "UPDATE lane SET reservation_id = 'reservation_1' WHERE id = (SELECT lane_id FROM queue_entry WHERE job_id = $1)",
    [id],
  )
  expect(await about(id)).toMatchObject({
    reasons: [{ code: 'RESERVATION_WINDOW' }],
    gates: [{ code: 'RESERVATION_WINDOW', open: false, opensAt: reserved?.['startsAt'] }],
  })
  await sql("UPDATE capacity_reservation SET starts_at = berth_now() - interval '1 hour'")
  expect((await about(id))?.gates).toMatchObject([{ open: true }])
  await sql("UPDATE capacity_reservation SET ends_at = berth_now() - interval '1 minute'")
  expect((await about(id))?.gates).toMatchObject([{ open: false, opensAt: null }])
  await clear()
})

test('a job that waits for a preemption shows that as the reason, with its hold', async () => {
  const id = await it.submit()
  await showLane(id, null)
  await sql("INSERT INTO hold (id, pool, job_id, kind, placements) VALUES ('hold_1', 'sim', $1, 'PREEMPTION', '[]')", [
    id,
  ])
  expect(await about(id)).toMatchObject({ holdId: 'hold_1', reasons: [{ code: 'WAITING_FOR_PREEMPTION' }] })
  await clear()
})

test('without a leader, the reasons of the last leader are hidden, and closed gates, limits and nodes are shown', async () => {
  const head = await it.submit()
  const behind = await it.submit()
  const limited = await it.submit({ project: 'gemini' })
  const later = await it.submit({ notBefore: new Date(Date.now() + 3_600_000).toISOString() })
  const never = await it.submit({ resources: { gpu: 1 } })
  for (const id of [head, behind, later, never]) await showLane(id, null)
  await showLane(limited, makeReason('PROJECT_LIMIT', 'The limit is reached'))
  await sql("INSERT INTO hold (id, pool, job_id, kind, placements) VALUES ('hold_2', 'sim', $1, 'PREEMPTION', '[]')", [
    limited,
  ])
  await sql("UPDATE scheduler_lease SET renewed_at = berth_now() - interval '1 minute'")
  const noLeader = makeReason('NO_CAPACITY', 'Pool sim has no scheduler right now')
  for (const id of [head, behind, limited]) expect((await about(id))?.reasons).toEqual([noLeader])
  expect(await codes(later)).toEqual(['NOT_BEFORE'])
  expect(await codes(never)).toEqual(['UNSATISFIABLE'])
  await sql(
    `INSERT INTO pool_limits (pool, "values") VALUES ('sim', '{"maxConcurrent": 0}') ON CONFLICT (pool) DO UPDATE SET "values" = excluded."values"`,
  )
  expect(await codes(head)).toEqual(['POOL_PAUSED'])
  expect(await codes(never)).toEqual(['UNSATISFIABLE'])
  await sql('DELETE FROM pool_limits')
  await sql("UPDATE scheduler_lease SET renewed_at = 'infinity'")
  expect(await codes(limited)).toEqual(['WAITING_FOR_PREEMPTION', 'PROJECT_LIMIT'])
  await sql("DELETE FROM hold WHERE id = 'hold_2'")
  await clear()
})

test('missing resources are listed, and the estimated start uses known run times', async () => {
  const running = await it.submit({ resources: { cpu: 2 }, maxRunTimeSeconds: 600 })
  await leader.tick()
  await transition(
    database.db.sql,
    [{ jobId: running, run: 1, from: 'STARTING', to: 'RUNNING', reason: null }],
    it.domain.time.nowMs(),
  )
  const next = await it.submit({ resources: { cpu: 2 }, maxRunTimeSeconds: 60 })
  const endless = await it.submit({ resources: { cpu: 2 }, preemptable: true, maxRunTimeSeconds: 0 })
  const last = await it.submit({ maxRunTimeSeconds: 60 })
  await leader.tick()
  expect((await computeFits(it.domain, [next])).get(next)).toEqual({
    freeNow: false,
    couldEverFit: true,
    missing: ['2 cpu on one node: 0 are free', '64 GiB on one node: 0 GiB are free'],
    never: null,
  })
  const [run] = await database.db.sql.query<{ startedAt: Date }>(
    'SELECT started_at AS "startedAt" FROM run WHERE job_id = $1',
    [running],
  )
  const endMs = (run?.startedAt.getTime() ?? 0) + 600_000
  const estimates = await estimateStarts(it.domain, [next, endless, last])
  expect(estimates.get(next)).toMatchObject({ earliest: new Date(endMs), latest: new Date(endMs) })
  expect(estimates.get(endless)).toMatchObject({ earliest: new Date(endMs), latest: new Date(endMs + 60_000) })
  expect(estimates.get(last)).toMatchObject({ earliest: new Date(endMs), latest: null })
  await sql('DELETE FROM capacity_reservation')
  const [window] = await sql(
    `INSERT INTO capacity_reservation (id, name, pool, project, nodes, starts_at, ends_at)
     VALUES ('reservation_2', 'day', 'sim', 'apollo', '{n1}', berth_now() + interval '10 seconds', berth_now() + interval '2 hours')
     RETURNING ends_at AS "endsAt"`,
  )
  expect((await estimateStarts(it.domain, [next])).get(next)).toMatchObject({ earliest: window?.['endsAt'] })
})
