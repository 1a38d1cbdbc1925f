import { afterAll, describe, expect, test } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { type Move, transition } from '../../../src/domain/jobs/transition.ts'
import { readPositions } from '../../../src/domain/queue/position.ts'
import { readQueueCounts } from '../../../src/domain/queue/queue.ts'
import { explainWaiting } from '../../../src/domain/queue/why-waiting.ts'
import { findViolations } from '../../../src/domain/selfcheck/selfcheck.ts'
import { openTestDomain, simNode } from '../../support/domain.ts'
import { createLeader } from '../../support/leader.ts'

const { database, it } = await openTestDomain({ nodes: [{ ...simNode, cpuMillis: 2000, memoryBytes: 2 * 2 ** 30 }] })
const leader = await createLeader(it.domain, 'sim')
afterAll(async () => {
  expect(await findViolations(database.db.sql)).toEqual([])
})

const sql = <Row>(text: string, values: unknown[] = []) => database.db.sql.query<Row>(text, values)
const stateOf = async (id: string) =>
  (await sql<{ state: string }>('SELECT state FROM job WHERE id = $1', [id]))[0]?.state
const reasonOf = async (id: string) => (await explainWaiting(it.domain, [id])).get(id)?.reasons[0]
/** Submits one job after the other, because a call waits at most 3 s for a connection. */
async function cancel(...ids: string[]) {
  for (const jobId of ids) await cancelJob(it.domain, it.admin, { jobId })
}

/** Moves a job from STARTING to its end. */
async function finish(jobId: string, to: 'SUCCEEDED' | 'FAILED') {
  const steps: Pick<Move, 'from' | 'to' | 'reason'>[] = [
    { from: 'STARTING', to: 'RUNNING', reason: null },
    { from: 'RUNNING', to, reason: to === 'FAILED' ? 'EXIT_CODE' : null },
  ]
  for (const step of steps) await transition(database.db.sql, [{ jobId, run: 1, ...step }], it.domain.time.nowMs())
}

describe('the queue starts jobs in order of submission within the capacity of the pool:', () => {
  test('jobs that fit start in order, and the others wait with a reason', async () => {
    const [a, b, big, small] = [
      await it.submit(),
      await it.submit(),
      await it.submit({ resources: { cpu: 2 } }),
      await it.submit(),
    ]
    expect(await leader.tick()).toMatchObject({ started: 2 })
    expect(await Promise.all([a, b, big, small].map(stateOf))).toEqual(['STARTING', 'STARTING', 'QUEUED', 'QUEUED'])
    expect(await reasonOf(big)).toMatchObject({
      code: 'NO_CAPACITY',
      message: 'Waiting for free resources: 2 cpu, 2 GiB',
    })
    expect(await reasonOf(small)).toMatchObject({ code: 'NO_CAPACITY' })
    expect((await readPositions(database.db.sql, [small])).get(small)).toEqual({ position: 2, exact: true })

    await finish(a, 'SUCCEEDED')
    expect(await leader.tick()).toMatchObject({ started: 0 })
    expect(await reasonOf(small)).toMatchObject({ code: 'HOLD', jobId: big })
    await finish(b, 'FAILED')
    expect(await leader.tick()).toMatchObject({ started: 1 })
    expect(await stateOf(big)).toBe('STARTING')
    await finish(big, 'SUCCEEDED')
    await cancel(small)
  })

  test('a job that can never fit shows that reason and does not block others', async () => {
    const giant = await it.submit({ resources: { cpu: 3 } })
    const next = await it.submit()
    await leader.tick()
    expect(await stateOf(next)).toBe('STARTING')
    expect(await reasonOf(giant)).toMatchObject({ code: 'UNSATISFIABLE' })
    await finish(next, 'SUCCEEDED')
    await cancel(giant)
  })

  test('identical jobs that can never fit are considered once', async () => {
    const giants = await Promise.all(Array.from({ length: 210 }, () => it.submit({ resources: { cpu: 3 } })))
    const next = await it.submit()
    expect(await leader.tick()).toMatchObject({ started: 1, considered: 2 })
    await finish(next, 'SUCCEEDED')
    await cancel(...giants)
  })

  test('a start that races with a cancellation starts no run', async () => {
    const id = await it.submit()
    const [cancelled, pass] = await Promise.all([cancelJob(it.domain, it.admin, { jobId: id }), leader.tick()])
    expect(cancelled.changed).toBe(true)
    expect(await stateOf(id)).toBe(pass.started === 1 ? 'CANCELLING' : 'CANCELLED')
    if (pass.started === 1)
      await transition(
        database.db.sql,
        [{ jobId: id, run: 1, from: 'CANCELLING', to: 'CANCELLED', reason: 'CANCELLED' }],
        0,
      )
  })
})

describe('a gate of a job', () => {
  test('opens at its start time, by database time', async () => {
    const at = new Date(Date.now() + 3_600_000)
    const id = await it.submit({ notBefore: at.toISOString() })
    expect(await reasonOf(id)).toMatchObject({ code: 'NOT_BEFORE', message: `Waiting until ${at.toISOString()}` })
    expect(await leader.tick()).toMatchObject({ started: 0 })
    await database.moveTime(3_600_001)
    expect(await leader.tick()).toMatchObject({ started: 1 })
    await finish(id, 'SUCCEEDED')
  })

  test('opens when its dependency is satisfied; a dependency that can no longer be satisfied cancels the job', async () => {
    const first = await it.submit()
    const [after, onFailure, patient] = [
      await it.submit({ dependsOn: [{ jobId: first }] }),
      await it.submit({ dependsOn: [{ jobId: first, on: 'FAILED' }] }),
      await it.submit({ dependsOn: [{ jobId: first, on: 'FAILED' }], onDependencyFailure: 'WAIT' }),
    ]
    await leader.tick()
    expect(await stateOf(after)).toBe('QUEUED')
    expect(await reasonOf(after)).toMatchObject({ code: 'DEPENDENCY', jobId: first })
    await finish(first, 'SUCCEEDED')
    await leader.tick()
    expect(await sql('SELECT state, state_reason FROM job WHERE id = $1', [onFailure])).toEqual([
      { state: 'CANCELLED', state_reason: 'DEPENDENCY_FAILED' },
    ])
    expect(await stateOf(after)).toBe('STARTING')
    expect(await stateOf(patient)).toBe('QUEUED')
    await finish(after, 'SUCCEEDED')
    await cancel(patient)
  })

  test('cancels a chain of dependent jobs in one pass when the first job fails', async () => {
    const chain = [await it.submit()]
    for (let i = 0; i < 40; i++) chain.push(await it.submit({ dependsOn: [{ jobId: chain.at(-1) }] }))
    const [first, ...others] = chain
    await leader.tick()
    await finish(first ?? '', 'FAILED')
    await leader.tick()
    const rows = await sql<{ state: string; info: string }>(
      'SELECT state, state_info AS info FROM job WHERE id = ANY($1) ORDER BY id',
      [others],
    )
    expect(rows.map(({ state }) => state)).toEqual(others.map(() => 'CANCELLED'))
    expect(rows.at(-1)?.info).toBe(`Depends on ${others.at(-2)} being SUCCEEDED, but that job is CANCELLED`)
  })

  test('closes during a restart back-off, and shows why the last run ended', async () => {
    const id = await it.submit()
    await leader.tick()
    const again: Move = {
      jobId: id,
      run: 1,
      from: 'STARTING',
      to: 'QUEUED',
      reason: 'START_FAILED',
      info: 'Start 1 of 3 failed: The image x:1 cannot be pulled',
      runEnds: 'FAILED',
      eligibleInMs: 60_000,
    }
    await transition(database.db.sql, [again], it.domain.time.nowMs())
    expect(await reasonOf(id)).toMatchObject({
      code: 'RESTART_BACKOFF',
      message: expect.stringMatching(
        /^Start 1 of 3 failed: The image x:1 cannot be pulled\. The next start is after 20\S+Z$/,
      ),
    })
    expect(await leader.tick()).toMatchObject({ started: 0 })
    await cancel(id)
  })
})

test('other users see numbers of the queue only with permission', async () => {
  const rosa = await it.user('rosa', 'RESEARCHER')
  const [mine, hers] = [await it.submit(), await it.submit({}, rosa)]
  const read = async (viewer: Viewer) => (await readQueueCounts(it.domain, viewer, ['sim', 'nowhere'])).get('sim')
  expect(await read(it.admin)).toMatchObject({ pool: 'sim', depth: 2, running: 0, blocked: 0 })
  const forRosa = await read(rosa)
  expect(forRosa?.depth).toBe(2)
  expect(forRosa?.byUser).toEqual([{ userId: rosa.userId, count: 1 }])
  expect([...(await readQueueCounts(it.domain, it.admin, ['nowhere']))]).toEqual([])
  await cancel(mine, hers)
})
