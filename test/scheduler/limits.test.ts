import { beforeEach, describe, expect, test } from 'vitest'
import type { Viewer } from '../../src/domain/access.ts'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import { newId } from '../../src/domain/ids.ts'
import { transition } from '../../src/domain/jobs/transition.ts'
import { setScopeLimit, updateLimits } from '../../src/domain/limits/limits.ts'
import { disableUser, updateUser } from '../../src/domain/people/users.ts'
import { explainWaiting } from '../../src/domain/queue/why-waiting.ts'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import type { JobState } from '../../src/domain/state.ts'
import { openTestDomainForEach, simNode } from '../support/domain.ts'
import { createLeader, type TestLeader } from '../support/leader.ts'
import { until } from '../support/until.ts'

/** Eight V100 and two H100, and more cores than any limit. */
const device = (index: number, model: string, memoryGib: number) => ({
  index,
  model,
  memoryGib,
  tensorCores: true,
  cuda: [],
})
const node = {
  ...simNode,
  cpuMillis: 10_000_000,
  memoryBytes: 2 ** 50,
  devices: Array.from({ length: 10 }, (_, i) => (i < 8 ? device(i, 'Tesla V100', 32) : device(i, 'H100', 80))),
}

const { database, it, sql } = openTestDomainForEach({ nodes: [node], singleUser: false })
let leader: TestLeader

beforeEach(async () => {
  leader = await createLeader(it.domain, 'sim')
})

const set = (limits: Record<string, unknown>) => updateLimits(it.domain, it.admin, limits)
const unlimited = { maxConcurrent: null, userMaxConcurrent: null }
const submitMany = async (count: number, viewer?: Viewer, spec: Record<string, unknown> = {}) => {
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push(await it.submit(spec, viewer))
  return ids
}
const states = async (ids: readonly string[]) => {
  const rows = await sql<{ id: string; state: JobState }>('SELECT id, state FROM job WHERE id = ANY($1)', [ids])
  return ids.map((id) => rows.find((row) => row.id === id)?.state)
}
const started = async (ids: readonly string[]) => (await states(ids)).filter((state) => state === 'STARTING').length
const reasonOf = async (id = '') => (await explainWaiting(it.domain, [id])).get(id)?.reasons[0]
const gpus = (gpu: number, more: Record<string, unknown> = {}) => ({ resources: { gpu, ...more } })

async function end(...ids: string[]) {
  for (const jobId of ids) {
    await transition(database.db.sql, [{ jobId, run: 1, from: 'STARTING', to: 'RUNNING', reason: null }], 0)
    await transition(database.db.sql, [{ jobId, run: 1, from: 'RUNNING', to: 'SUCCEEDED', reason: null }], 0)
  }
}

async function team(name: string, ...members: Viewer[]) {
  const id = newId('team', it.domain.time.nowMs())
  await sql('INSERT INTO team (id, name, account) VALUES ($1, $2, $2)', [id, name])
  for (const { userId } of members) {
    await sql('INSERT INTO team_member (team_id, user_id) VALUES ($1, $2)', [id, userId])
    await sql('UPDATE "user" SET default_team_id = $1 WHERE id = $2', [id, userId])
  }
}

test('jobs of a disabled user wait with the reason, and start when the user is enabled', async () => {
  await set(unlimited)
  const ann = await it.user('ann', 'RESEARCHER')
  const [running = ''] = await submitMany(1, ann)
  await leader.tick()
  await disableUser(it.domain, it.admin, { id: ann.userId })
  await expect(it.submit({}, ann)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await updateUser(it.domain, it.admin, { id: ann.userId, disabled: false })
  const [waiting = ''] = await submitMany(1, ann)
  const [other = ''] = await submitMany(1)
  await updateUser(it.domain, it.admin, { id: ann.userId, disabled: true })
  await leader.tick()
  expect(await states([running, waiting, other])).toEqual(['STARTING', 'QUEUED', 'STARTING'])
  const held = { code: 'USER_DISABLED', scope: 'user:ann', message: expect.stringContaining('ann is disabled') }
  expect(await reasonOf(waiting)).toMatchObject(held)
  expect(await findViolations(database.db.sql)).toEqual([])
  await updateUser(it.domain, it.admin, { id: ann.userId, disabled: false })
  await leader.tick()
  expect(await states([waiting])).toEqual(['STARTING'])
})

describe('limits of running jobs', () => {
  test('example 5: five jobs run in the pool, two of each user; the sixth waits for the pool limit', async () => {
    const users = await Promise.all(['a', 'b', 'c'].map((name) => it.user(name, 'RESEARCHER')))
    const ids = (await Promise.all(users.map((user) => submitMany(2, user)))).flat()
    await leader.tick()
    expect(await started(ids)).toBe(5)
    const waits = ids[(await states(ids)).indexOf('QUEUED')]
    expect(await reasonOf(waits)).toEqual({
      code: 'GLOBAL_LIMIT',
      message: 'Limit reached: 5 of 5 running jobs for pool:sim',
      jobId: null,
      scope: 'pool:sim',
      limit: 5,
      used: 5,
    })
  })

  test('example 7: three jobs of a team run, two of each user; the third of a user waits for the user limit', async () => {
    const [alice, bob, carol] = [
      await it.user('alice', 'RESEARCHER'),
      await it.user('bob', 'RESEARCHER'),
      await it.user('carol', 'RESEARCHER'),
    ]
    await team('alpha', alice, bob)
    await team('beta', carol)
    await set({ maxConcurrent: 6, userMaxConcurrent: 2, teamMaxConcurrent: 3, enableFairShare: true })
    const alpha = [...(await submitMany(2, alice)), ...(await submitMany(2, bob))]
    const beta = await submitMany(3, carol)
    await leader.tick()
    expect(await started(alpha)).toBe(3)
    expect(await started(beta)).toBe(2)
    expect(await reasonOf(alpha[3])).toMatchObject({ code: 'TEAM_LIMIT', scope: 'team:alpha', limit: 3, used: 3 })
    expect(await reasonOf(beta[2])).toMatchObject({ code: 'USER_LIMIT', scope: 'user:carol', limit: 2, used: 2 })
  })

  test('example 9: lowering a limit keeps running jobs, and the next job starts when fewer run', async () => {
    await set({ userMaxConcurrent: null })
    const ids = await submitMany(6)
    await leader.tick()
    expect(await started(ids)).toBe(5)
    await set({ maxConcurrent: 2 })
    await leader.tick()
    expect(await started(ids)).toBe(5)
    await end(...ids.slice(0, 3))
    await leader.tick()
    expect((await states(ids))[5]).toBe('QUEUED')
    await end(ids[3] ?? '')
    await leader.tick()
    expect((await states(ids))[5]).toBe('STARTING')
  })

  test('the limit of a team has no effect without enableFairShare', async () => {
    await team('alpha', it.admin)
    await set({ ...unlimited, teamMaxConcurrent: 1 })
    const ids = await submitMany(3)
    await leader.tick()
    expect(await started(ids)).toBe(3)
  })

  test('a limit of 0 pauses a pool or a user; null means unlimited', async () => {
    const ids = await submitMany(3)
    await set({ maxConcurrent: 0 })
    expect(await leader.tick()).toMatchObject({ started: 0 })
    expect(await reasonOf(ids[0])).toMatchObject({
      code: 'POOL_PAUSED',
      message: 'Pool sim is paused: its limit maxConcurrent is 0',
    })
    await set({ maxConcurrent: null, userMaxConcurrent: 0 })
    expect(await leader.tick()).toMatchObject({ started: 0 })
    expect(await reasonOf(ids[0])).toMatchObject({ code: 'USER_LIMIT', limit: 0, used: 0 })
    await set(unlimited)
    expect(await leader.tick()).toMatchObject({ started: 3 })
  })
})

describe('a job that waits for a limit does not block other jobs:', () => {
  test('jobs behind it start, and the jobs at the limit show the reason', async () => {
    const ann = await it.user('ann', 'RESEARCHER')
    const hers = await submitMany(3, ann)
    const [behind] = await submitMany(1)
    await leader.tick()
    expect(await states([...hers, behind ?? ''])).toEqual(['STARTING', 'STARTING', 'QUEUED', 'STARTING'])
    const big = await it.submit({ resources: { cpu: 9_999 } })
    await set({ userMaxConcurrent: 3 })
    await leader.tick()
    expect(await reasonOf(big)).toMatchObject({ code: 'NO_CAPACITY' })
    expect(await reasonOf(hers[2])).toMatchObject({ code: 'HOLD', jobId: big })
    await set({ userMaxConcurrent: 2 })
    await cancelJob(it.domain, it.admin, { jobId: big })
    await leader.tick()
    expect(await reasonOf(hers[2])).toMatchObject({ code: 'USER_LIMIT', limit: 2, used: 2 })
  })

  test('the job behind 2,000 jobs of a user at the limit is found without reading them', async () => {
    const ann = await it.user('ann', 'RESEARCHER')
    const specs = Array.from({ length: 2_000 }, () => it.submit({ resources: { cpu: 0.01 } }, ann))
    await Promise.all(specs)
    expect(await leader.tick()).toMatchObject({ started: 2 })
    const behind = await it.submit()
    expect(await leader.tick()).toMatchObject({ considered: 1, started: 1 })
    expect(await states([behind])).toEqual(['STARTING'])
    expect(await leader.tick()).toMatchObject({ started: 0 })
  })
})

describe('a limit on a scope', () => {
  const scope = (limit: Record<string, unknown>) => setScopeLimit(it.domain, it.admin, limit)
  beforeEach(() => set(unlimited))

  test.each([
    ['QUEUE', 'default', {}, 'queue:default'],
    ['PROJECT', 'apollo', { project: 'apollo' }, 'project:apollo'],
    ['USER', 'local', {}, 'user:local'],
    ['TEAM', 'alpha', {}, 'team:alpha'],
  ])('applies to the jobs of a %s', async (kind, name, spec, called) => {
    await team('alpha', it.admin)
    await scope({ scope: kind, name, maxJobs: 1 })
    const ids = await submitMany(2, it.admin, spec)
    await leader.tick()
    expect(await states(ids)).toEqual(['STARTING', 'QUEUED'])
    expect(await reasonOf(ids[1])).toMatchObject({ code: `${kind}_LIMIT`, scope: called, limit: 1, used: 1 })
    await scope({ scope: kind, name, maxJobs: null })
    await leader.tick()
    expect(await started(ids)).toBe(2)
  })

  test('on GPUs does not affect jobs without GPUs', async () => {
    await scope({ scope: 'PROJECT', name: 'apollo', maxGpus: 3 })
    const ids = await submitMany(2, it.admin, { ...gpus(2), project: 'apollo' })
    const cpu = await it.submit({ project: 'apollo' })
    await leader.tick()
    expect(await states([...ids, cpu])).toEqual(['STARTING', 'QUEUED', 'STARTING'])
    expect(await reasonOf(ids[1])).toMatchObject({ code: 'GPU_LIMIT', scope: 'project:apollo', limit: 3, used: 2 })
  })

  test('on a GPU model makes a job use another model, or wait without blocking others', async () => {
    await scope({ scope: 'USER', name: 'local', gpuModel: 'H100', maxGpus: 1 })
    const big = { gpuMemoryGib: 64 }
    const [first, second] = await submitMany(2, it.admin, gpus(1, big))
    const any = await it.submit(gpus(1))
    await leader.tick()
    expect(await states([first ?? '', second ?? '', any])).toEqual(['STARTING', 'QUEUED', 'STARTING'])
    await Promise.all(Array.from({ length: 7 }, () => it.submit(gpus(1))))
    const ninth = await it.submit(gpus(1))
    await leader.tick()
    expect(await states([ninth])).toEqual(['QUEUED'])
    expect(await sql('SELECT count(*) FROM device_claim')).toEqual([{ count: 9 }])
  })

  test('on GPU jobs or on GPUs applies to the whole pool', async () => {
    await set({ localJobMaxConcurrent: 2 })
    const ids = await submitMany(3, it.admin, gpus(1))
    const cpu = await it.submit()
    await leader.tick()
    expect(await states([...ids, cpu])).toEqual(['STARTING', 'STARTING', 'QUEUED', 'STARTING'])
    expect(await reasonOf(ids[2])).toMatchObject({ code: 'LOCAL_JOB_LIMIT', scope: 'pool:sim', limit: 2, used: 2 })
    await set({ localJobMaxConcurrent: null, localGpuMaxConcurrent: 2 })
    await leader.tick()
    expect(await reasonOf(ids[2])).toMatchObject({ code: 'LOCAL_GPU_LIMIT', limit: 2, used: 2 })
    await set({ localGpuMaxConcurrent: 3 })
    expect(await leader.tick()).toMatchObject({ started: 1 })
  })
})

describe('concurrent changes of limits', () => {
  test('a start planned under an old limit is planned again', async () => {
    await set({ maxConcurrent: 7, userMaxConcurrent: null })
    const ids = await submitMany(40)
    await Promise.all([leader.tick(), set({ maxConcurrent: 3 })])
    const before = await started(ids)
    await leader.tick()
    expect([3, 7]).toContain(before)
    expect(await started(ids)).toBe(before)
  })

  test('a changed limit applies to every start after the change was confirmed', async () => {
    await set({ userMaxConcurrent: null, maxConcurrent: 100 })
    const ids = await submitMany(100)
    let atAnswer = 0
    const lower = set({ maxConcurrent: 0 }).then(async () => {
      atAnswer = await started(ids)
    })
    await Promise.all([leader.tick(), lower])
    await leader.tick()
    expect(await started(ids)).toBe(atAnswer)
  })

  test('ended and cancelled jobs no longer count, and a change of limits wakes the leader', async () => {
    const [a, b, c, d] = await submitMany(4)
    await leader.tick()
    await end(a ?? '')
    expect(await leader.tick()).toMatchObject({ started: 1 })
    const cancelled = await cancelJob(it.domain, it.admin, { jobId: b ?? '' })
    expect(cancelled.changed).toBe(true)
    // The run counts until the executor reports its end.
    expect(await leader.tick()).toMatchObject({ started: 0 })
    const dead = { jobId: b ?? '', run: 1, from: 'CANCELLING', to: 'CANCELLED', reason: 'CANCELLED' } as const
    await transition(database.db.sql, [dead], 0)
    let woken = 0
    const unlisten = it.domain.wakeups.on('queue', () => woken++)
    await set({ userMaxConcurrent: 2 })
    await until(() => woken > 0, { what: 'the change has woken the queue' })
    unlisten()
    expect(await leader.tick()).toMatchObject({ started: 1 })
    expect(await states([c ?? '', d ?? ''])).toEqual(['STARTING', 'STARTING'])
  })
})
