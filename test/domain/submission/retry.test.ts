import { expect, test } from 'vitest'
import { deleteJob } from '../../../src/domain/control/remove.ts'
import { updateLimits } from '../../../src/domain/limits/limits.ts'
import { createTeam, updateTeam } from '../../../src/domain/people/teams.ts'
import { retryJob } from '../../../src/domain/submission/retry.ts'
import { openTestDomain } from '../../support/domain.ts'
import { finishJob } from '../../support/factories.ts'

const { database, it } = await openTestDomain()
const ann = await it.user('ann', 'RESEARCHER')

const retry = (jobId: string, more: Record<string, unknown> = {}, viewer = it.admin) =>
  retryJob(it.domain, viewer, { jobId, ...more })

async function finished(spec: Record<string, unknown>, viewer = it.admin): Promise<string> {
  const id = await it.submit(spec, viewer)
  await finishJob(database.db.sql, id)
  return id
}

interface Row {
  id: string
  retryOf: string
  spec: Record<string, unknown>
  account: string
}

async function jobOf(outcome: Awaited<ReturnType<typeof retry>>): Promise<Row> {
  if (outcome instanceof Error || !('jobId' in outcome)) throw outcome
  return rowOf(outcome.jobId)
}

async function rowOf(jobId: string): Promise<Row> {
  const [row] = await database.db.sql.query<Row>(
    'SELECT id, retry_of_id AS "retryOf", spec, account FROM job WHERE id = $1',
    [jobId],
  )
  if (!row) throw new Error('No job')
  return row
}

const specOf = async (id: string) => (await rowOf(id)).spec

test.each<[string, Record<string, unknown>]>([
  ['a plain job', {}],
  [
    'a job with many fields',
    {
      command: ['a', 'b'],
      name: 'n',
      labels: [{ key: 'k', value: 'v' }],
      environment: [{ name: 'A', value: '1' }],
      resources: { cpu: 2, memoryGib: 3 },
      internalDns: { name: 'web', ports: [{ port: 80 }] },
      durationSeconds: 60,
      restartable: true,
      launcher: 'multiple',
      retry: { maxAttempts: 3 },
    },
  ],
  ['a job with amounts per process', { resources: { nodeCount: 2, processesPerNode: 2, cpuCoresPerProcess: 3 } }],
])('a retry of %s submits the same spec as a new job that names the original', async (_what, spec) => {
  const id = await finished(spec)
  const again = await jobOf(await retry(id))
  expect(again.id).not.toBe(id)
  expect(again).toMatchObject({ retryOf: id, spec: await specOf(id) })
})

test('overrides replace fields, and remove the fields that contradict them', async () => {
  const id = await finished({ command: ['a'], name: 'n', durationSeconds: 60, resources: { cpu: 2, memoryBytes: 5 } })
  const overrides = {
    executable: 'b',
    arguments: ['c'],
    maxRunTimeSeconds: 90,
    resources: { memoryGib: 1 },
    name: null,
  }
  expect((await jobOf(await retry(id, { overrides }))).spec).toMatchObject({
    command: null,
    executable: 'b',
    arguments: ['c'],
    name: null,
    durationSeconds: null,
    maxRunTimeSeconds: 90,
    resources: { cpu: 2, memoryBytes: 1024 ** 3 },
  })
  expect(await retry(id, { overrides: { colour: 'red' } })).toMatchObject({ code: 'INVALID_INPUT' })
  expect(await retry(id, { overrides: { resources: { cpu: -1 } } })).toMatchObject({
    violations: [{ path: ['overrides', 'resources', 'cpu'] }],
  })
  expect(await retry(id, { overrides: { queue: 'nowhere' } })).toMatchObject({
    violations: [{ path: ['overrides', 'queue'] }],
  })
})

test('a retry with another team is charged to that team, unless it names an account', async () => {
  for (const name of ['red', 'blue']) {
    const { id } = await createTeam(it.domain, it.admin, { name })
    await updateTeam(it.domain, it.admin, { id, addMembers: [ann.userId] })
  }
  const id = await finished({ team: 'red' }, ann)
  const account = async (overrides: Record<string, unknown>) =>
    (await jobOf(await retry(id, { overrides }, ann))).account
  expect(await account({})).toBe('red')
  expect(await account({ team: 'blue' })).toBe('blue')
  expect(await account({ team: 'blue', account: 'red' })).toBe('red')
})

test('a retry of an active job, or at another version than expected, is refused', async () => {
  const id = await it.submit()
  expect(await retry(id)).toMatchObject({ code: 'INVALID_STATE', jobId: id })
  await finishJob(database.db.sql, id)
  expect(await retry(id, { expectedVersion: 9 })).toMatchObject({ code: 'VERSION_CONFLICT' })
  expect(await retry(id, { expectedVersion: 1 })).toMatchObject({ idempotentHit: false })
})

test('a retry has its own idempotency key, which returns its job even after the original is deleted', async () => {
  const id = await finished({})
  const first = await retry(id, { idempotencyKey: 'again' })
  expect(first).toMatchObject({ idempotentHit: false })
  expect(await retry(id, { idempotencyKey: 'again', overrides: { name: 'x' } })).toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
  })
  await deleteJob(it.domain, it.admin, { jobId: id })
  const jobId = (await jobOf(first)).id
  expect(await retry(id, { idempotencyKey: 'again' })).toMatchObject({ jobId, idempotentHit: true })
  expect(await jobOf(first)).toMatchObject({ retryOf: null })
  expect(await retry(id)).toMatchObject({ code: 'NOT_FOUND' })
})

test('a retry of a job of another user is not found, or runs without their account and variables', async () => {
  const lead = await it.user('lea', 'LEAD')
  const plain = await finished({}, ann)
  const withVariables = await finished({ environment: [{ name: 'SECRET', value: 's' }] }, ann)
  const mine = await finished({})
  expect(await retry(mine, {}, ann)).toMatchObject({ code: 'NOT_FOUND' })
  expect(await jobOf(await retry(plain, {}, lead))).toMatchObject({ account: 'users.lea' })
  expect(await retry(withVariables, {}, lead)).toMatchObject({
    code: 'INVALID_INPUT',
    violations: [{ path: ['overrides', 'environment'] }],
  })
  expect((await jobOf(await retry(withVariables, { overrides: { environment: [] } }, lead))).spec).toMatchObject({
    environment: [],
  })
})

test('quotas apply to a retry', async () => {
  const id = await finished({})
  await updateLimits(it.domain, it.admin, { userMaxActive: 0 })
  expect(await retry(id)).toMatchObject({ code: 'QUOTA_EXCEEDED' })
  await updateLimits(it.domain, it.admin, { userMaxActive: null })
})
