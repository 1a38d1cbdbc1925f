import { beforeEach, expect, test } from 'vitest'
import { setScopeLimit, updateLimits } from '../../../src/domain/limits/limits.ts'
import { createCapacityReservation } from '../../../src/domain/machines/reservations.ts'
import { estimateStarts } from '../../../src/domain/queue/estimate.ts'
import { computeFits } from '../../../src/domain/queue/fit.ts'
import { explainWaiting } from '../../../src/domain/queue/why-waiting.ts'
import { openTestDomainForEach, simNode } from '../../support/domain.ts'
import { createLeader, type TestLeader } from '../../support/leader.ts'
import { nodeIds } from '../../support/node-ids.ts'

/** Six V100 and two H100. The fit of a job is "now" if only its position prevents its start. */
const device = (index: number, model: string) => ({ index, model, memoryGib: 32, tensorCores: true, cuda: [] })
const devices = Array.from({ length: 8 }, (_, at) => device(at, at < 6 ? 'Tesla V100' : 'H100'))
const { it } = openTestDomainForEach({ nodes: [{ ...simNode, devices }] })
let leader: TestLeader

beforeEach(async () => {
  leader = await createLeader(it.domain, 'sim')
})

interface Asked {
  spec: Record<string, unknown>
  limits: () => Promise<unknown>
  message: string
}

const project = (limit: Record<string, unknown>) => () =>
  setScopeLimit(it.domain, it.admin, { scope: 'PROJECT', name: 'apollo', ...limit })

async function told(id: string) {
  const [fits, waiting, estimates] = await Promise.all([
    computeFits(it.domain, [id]),
    explainWaiting(it.domain, [id]),
    estimateStarts(it.domain, [id]),
  ])
  return { fit: fits.get(id), reason: waiting.get(id)?.reasons[0], estimate: estimates.get(id) }
}

test.for<[string, Asked]>([
  [
    'a project with limit 0',
    { spec: {}, limits: project({ maxJobs: 0 }), message: 'The limit of project:apollo is 0 running jobs' },
  ],
  [
    'a project with fewer GPUs than the job requests',
    {
      spec: { resources: { gpu: 4 } },
      limits: project({ maxGpus: 3 }),
      message: 'The limit of project:apollo is 3 GPUs, and this job alone needs 4',
    },
  ],
  [
    'a user with limit 0',
    {
      spec: {},
      limits: () => setScopeLimit(it.domain, it.admin, { scope: 'USER', name: 'local', maxJobs: 0 }),
      message: 'The limit of user:local is 0 running jobs',
    },
  ],
  [
    'a model of GPUs with limit 0',
    {
      spec: { resources: { gpu: 1, gpuModel: ['h100'] } },
      limits: project({ gpuModel: 'h100', maxGpus: 0 }),
      message: 'The limit of project:apollo is 0 GPUs of model h100',
    },
  ],
])(
  'a job that can never start because of %s has a reason and no estimate, before and after a pass',
  async ([, { spec, limits, message }]) => {
    await limits()
    const id = await it.submit({ project: 'apollo', maxRunTimeSeconds: 60, ...spec })
    for (const looked of [false, true]) {
      if (looked) await leader.tick()
      expect(await told(id)).toEqual({
        fit: {
          freeNow: false,
          couldEverFit: false,
          missing: [expect.stringContaining(message)],
          never: expect.objectContaining({ message: expect.stringContaining(message) }),
        },
        reason: expect.objectContaining({ message: expect.stringContaining(message) }),
        estimate: null,
      })
    }
  },
)

test('a limit used up by other jobs is listed as a missing resource until it is raised', async () => {
  await updateLimits(it.domain, it.admin, { pool: 'sim', maxConcurrent: 1 })
  await it.submit()
  await leader.tick()
  const id = await it.submit()
  expect((await told(id)).fit).toEqual({
    freeNow: false,
    couldEverFit: true,
    missing: ['Limit reached: 1 of 1 running jobs for pool:sim'],
    never: null,
  })
  await updateLimits(it.domain, it.admin, { pool: 'sim', maxConcurrent: null })
  expect((await told(id)).fit).toMatchObject({ freeNow: true, missing: [] })
})

test('a limit on one GPU model does not exclude jobs on other models', async () => {
  await project({ gpuModel: 'h100', maxGpus: 0 })()
  const id = await it.submit({ project: 'apollo', resources: { gpu: 6 } })
  expect((await told(id)).fit).toMatchObject({ freeNow: true })
  const more = await it.submit({ project: 'apollo', resources: { gpu: 7 } })
  expect((await told(more)).fit).toMatchObject({ couldEverFit: false })
})

test('nodes reserved for other jobs do not count as free', async () => {
  await createCapacityReservation(it.domain, it.admin, {
    name: 'night',
    pool: 'sim',
    project: 'apollo',
    nodeIds: await nodeIds(it.domain.db, 'n1'),
    startsAt: new Date(it.time.nowMs() + 60_000).toISOString(),
    endsAt: new Date(it.time.nowMs() + 120_000).toISOString(),
  })
  const [long, short] = [await it.submit({ maxRunTimeSeconds: 600 }), await it.submit({ maxRunTimeSeconds: 10 })]
  expect((await told(long)).fit).toMatchObject({
    freeNow: false,
    couldEverFit: true,
    missing: [expect.stringMatching(/^The free resources are reserved for other projects from 20.* less than \d\d s:/)],
  })
  expect((await told(short)).fit).toMatchObject({ freeNow: true })
})

test('the answer for a job without a run time names the run time with which it starts before a maintenance window', async () => {
  const [hour, nowMs] = [3_600_000, it.time.nowMs()]
  const ids = await nodeIds(it.domain.db, 'n1')
  const window = (name: string, startsMs: number) =>
    createCapacityReservation(it.domain, it.admin, {
      name,
      pool: 'sim',
      project: 'maintenance',
      nodeIds: ids,
      startsAt: new Date(startsMs).toISOString(),
      endsAt: new Date(startsMs + hour).toISOString(),
    })
  await window('tonight', nowMs + 2 * hour + 30_000)
  await window('tomorrow', nowMs + 24 * hour)
  const id = await it.submit()
  await leader.tick()
  const { fit, reason } = await told(id)
  expect(reason?.code).toBe('RESERVED_NODES')
  const from = new Date(nowMs + 2 * hour + 30_000).toISOString()
  expect(fit?.missing).toEqual([
    `The free resources are reserved for other projects from ${from} on. To start before, name a run time of less than 2 h 0 min: --max-run-time, maxRunTimeSeconds`,
  ])
  const told2h = await it.submit({ maxRunTimeSeconds: 2 * 3_600 })
  expect((await told(told2h)).fit?.missing).toEqual([])
})
