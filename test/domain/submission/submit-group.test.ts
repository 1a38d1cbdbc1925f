import { describe, expect, test } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { InvalidInput, type Refusal } from '../../../src/domain/errors.ts'
import { updateLimits } from '../../../src/domain/limits/limits.ts'
import { createQuota, deleteQuota } from '../../../src/domain/limits/stored-quotas.ts'
import { readJob } from '../../../src/domain/submission/stored-job.ts'
import { openTestDomain } from '../../support/domain.ts'
import { submitJobs } from '../../support/submit-jobs.ts'

const { database, it } = await openTestDomain()

const sql = <Row>(text: string, values: unknown[] = []) => database.db.sql.query<Row>(text, values)

async function refusal(spec: Record<string, unknown>): Promise<Refusal> {
  const before = await sql('SELECT count(*) FROM job')
  const [outcome] = await submitJobs(it.domain, it.admin, [{ spec }])
  expect(outcome).toBeInstanceOf(Error)
  expect(await sql('SELECT count(*) FROM job')).toEqual(before)
  return outcome as Refusal
}

describe('an accepted submission', () => {
  test('stores the job, its first run, its queue entry and its first event', async () => {
    const id = await it.submit({ name: 'first', labels: [{ key: 'a', value: '' }] })
    expect(
      await sql('SELECT state, version, run_number, name, labels, account, base_priority FROM job WHERE id = $1', [id]),
    ).toEqual([
      {
        state: 'QUEUED',
        version: 1,
        run_number: 1,
        name: 'first',
        labels: { a: '' },
        account: 'users.local',
        base_priority: 30,
      },
    ])
    expect(await sql('SELECT number, state FROM run WHERE job_id = $1', [id])).toEqual([{ number: 1, state: 'QUEUED' }])
    expect(await sql('SELECT pool FROM queue_entry WHERE job_id = $1', [id])).toEqual([{ pool: 'sim' }])
    expect(await sql('SELECT seq, type, to_state, psij_state, position FROM event WHERE job_id = $1', [id])).toEqual([
      { seq: 1, type: 'CREATED', to_state: 'QUEUED', psij_state: 'QUEUED', position: null },
    ])
  })

  test('returns the job as it is stored', async () => {
    const spec = {
      command: ['true'],
      name: 'all',
      labels: [{ key: 'a', value: 'b' }],
      resources: { cpu: 1.5, gpu: 0, memoryGib: 2, replicas: 2, infiniband: true },
      customAttributes: { b: 1, a: { c: [] } },
      project: 'p',
      estimatedCost: 1.25,
      notBefore: new Date(it.domain.time.nowMs() + 86_400_000).toISOString().replace('Z', '+01:00'),
      dependsOn: [{ jobId: await it.submit() }],
    }
    const plain = { command: ['true'] }
    const outcomes = await submitJobs(it.domain, it.admin, [{ spec }, { spec: plain }])
    for (const outcome of outcomes) {
      if (outcome instanceof Error) throw outcome
      expect(outcome.job).toEqual(await readJob(it.domain, outcome.jobId))
    }
    const [blocked] = await submitJobs(it.domain, it.admin, [{ spec: plain, requiresApproval: true }])
    expect(blocked).toMatchObject({ job: { state: 'BLOCKED' } })
  })

  test('stores the spec with all defaults', async () => {
    const id = await it.submit({ resources: { gpuIds: null, memoryGib: 2 } })
    const [row] = await sql<{ spec: Record<string, unknown> }>('SELECT spec FROM job WHERE id = $1', [id])
    expect(row?.spec).toMatchObject({
      launcher: 'single',
      inheritEnvironment: true,
      executor: 'simulated',
      queue: 'default',
      maxRunTimeSeconds: 172_800,
      onDependencyFailure: 'CANCEL',
      resources: { cpu: 1, memoryBytes: 2 * 1024 ** 3, gpu: 0, replicas: 1 },
    })
  })

  test('keeps the order of a group: the sequence follows the order of the items', async () => {
    const outcomes = await submitJobs(
      it.domain,
      it.admin,
      Array.from({ length: 300 }, (_, i) => ({ spec: { command: ['true'], name: `g${i}` } })),
    )
    const ids = outcomes.map((outcome) => ('jobId' in outcome ? outcome.jobId : ''))
    const rows = await sql<{ id: string }>('SELECT id FROM job WHERE id = ANY($1) ORDER BY sequence', [ids])
    expect(rows.map(({ id }) => id)).toEqual(ids)
  })

  test('causes warnings about changed values', async () => {
    const [outcome] = await submitJobs(it.domain, it.admin, [
      { spec: { command: ['true'], restartable: true, preemptable: false } },
    ])
    expect(outcome).toMatchObject({ warnings: ['preemptable was set to true: restartable jobs may be preempted'] })
  })
})

describe('invalid input is refused with field and rule, and no row is written', () => {
  test.each([
    ['an empty command', { command: [] }, 'spec.command', /empty/],
    ['a command whose first word is empty', { command: [''] }, 'spec.command.0', /empty/],
    ['nothing to run', {}, 'spec.command', /given/],
    ['command and executable', { command: ['a'], executable: 'b' }, 'spec.executable', /not both/],
    ['negative cpu', { command: ['a'], resources: { cpu: -1 } }, 'spec.resources.cpu', /at least 0.001/],
    ['NUL in an argument', { command: ['a', 'b\0c'] }, 'spec.command.1', /NUL/],
    ['NUL in a key of JSON', { command: ['a'], customAttributes: { 'x\0': 1 } }, 'spec.customAttributes', /NUL/],
    ['half a surrogate pair', { command: ['a'], name: '\ud800' }, 'spec.name', /surrogate/],
    ['a name of 256 characters', { command: ['a'], name: 'x'.repeat(256) }, 'spec.name', /255/],
    ['a relative workdir', { command: ['a'], workdir: 'tmp' }, 'spec.workdir', /absolute/],
    [
      'a variable with =',
      { command: ['a'], environment: [{ name: 'A=B', value: '' }] },
      'spec.environment.0.name',
      /=/,
    ],
    [
      'two run times that differ',
      { command: ['a'], durationSeconds: 60, maxRunTimeSeconds: 90 },
      'spec.durationSeconds',
      /Differs/,
    ],
    ['a start more than a year ahead', { command: ['a'], notBefore: '2099-01-01T00:00:00Z' }, 'spec.notBefore', /year/],
    [
      'nodeCount with processCount',
      { command: ['a'], resources: { nodeCount: 1, processCount: 1 } },
      'spec.resources.nodeCount',
      /Give nodeCount or processCount/,
    ],
    [
      'processesPerNode alone',
      { command: ['a'], resources: { processesPerNode: 2 } },
      'spec.resources.processesPerNode',
      /nodeCount or processCount/,
    ],
    [
      'replicas of processes on nodes',
      { command: ['a'], resources: { processCount: 10, processesPerNode: 2, replicas: 2 } },
      'spec.resources.replicas',
      /Must be 1/,
    ],
    [
      'an empty GPU filter',
      { command: ['a'], resources: { gpu: 1, gpuModel: [''] } },
      'spec.resources.gpuModel.0',
      /empty/,
    ],
    ['a bare !', { command: ['a'], resources: { gpu: 1, gpuModel: ['!'] } }, 'spec.resources.gpuModel.0', /!/],
    [
      'a GPU filter without GPUs',
      { command: ['a'], resources: { gpuModel: ['v100'] } },
      'spec.resources.gpuModel',
      /gpu to be at least 1/,
    ],
    ['an unknown device', { command: ['a'], resources: { gpu: 1, gpuIds: [9] } }, 'spec.resources.gpuIds', /no GPU 9/],
    ['an unknown queue', { command: ['a'], queue: 'nowhere' }, 'spec.queue', /Queue nowhere does not exist/],
    [
      'an executor that the queue lacks',
      { command: ['a'], queue: 'default', executor: 'slurm' },
      'spec.executor',
      /default has no executor slurm/,
    ],
    ['an unknown executor', { command: ['a'], executor: 'slurm' }, 'spec.executor', /executor slurm/],
    [
      'an unknown dependency',
      { command: ['a'], dependsOn: [{ jobId: 'job_x' }] },
      'spec.dependsOn.0.jobId',
      /Job job_x not found/,
    ],
    ['an unknown team', { command: ['a'], team: 'ml' }, 'spec.team', /not a member of a team ml/],
    [
      'more than all machines of the world',
      { command: ['a'], resources: { cpu: 1_000_000, replicas: 2 } },
      'spec.resources.cpu',
      /1,000,000/,
    ],
    ['an unknown field', { command: ['a'], colour: 'red' }, 'spec', /colour/],
  ])('for %s', async (_what, spec, path, message) => {
    const refused = await refusal(spec)
    expect(refused).toBeInstanceOf(InvalidInput)
    const violations = (refused as InvalidInput).violations
    expect(violations.map((violation) => violation.path.join('.'))).toContain(path)
    expect(violations.map((violation) => violation.message).join()).toMatch(message)
  })

  test('a refused item of a group does not affect the other items', async () => {
    const outcomes = await submitJobs(it.domain, it.admin, [
      { spec: { command: ['a'] } },
      { spec: { command: ['a'], queue: 'x' } },
      { spec: { command: ['a'] } },
    ])
    expect(outcomes.map((outcome) => outcome instanceof Error)).toEqual([false, true, false])
  })

  test('a VIEWER may not submit jobs', async () => {
    const viewer = await it.user('vera', 'VIEWER')
    const [outcome] = await submitJobs(it.domain, viewer, [{ spec: { command: ['true'] } }])
    expect(outcome).toMatchObject({ code: 'FORBIDDEN', requiredPermission: 'job.submit' })
  })
})

test('an SQL error in one item of a group refuses only that item', async () => {
  await sql(`ALTER TABLE job ADD CONSTRAINT provoked CHECK (name IS DISTINCT FROM 'poison')`)
  const inputs = Array.from({ length: 64 }, (_, i) => ({
    spec: { command: ['true'], name: i === 40 ? 'poison' : 'fine' },
  }))
  const outcomes = await Promise.allSettled(inputs.map((input) => submitJobs(it.domain, it.admin, [input])))
  expect(outcomes.map((outcome, i) => (outcome.status === 'rejected' ? i : -1)).filter((i) => i >= 0)).toEqual([40])
  await sql('ALTER TABLE job DROP CONSTRAINT provoked')
})

test('an unexpected error in one item of a group refuses only that item', async () => {
  const viewer = await it.user('odd', 'RESEARCHER')
  const defect = new TypeError('a defect')
  const odd = Object.defineProperty({ ...viewer }, 'userName', {
    get: () => {
      throw defect
    },
  })
  const outcomes = await Promise.allSettled(
    [it.admin, odd, it.admin].map((one) => submitJobs(it.domain, one, [{ spec: { command: ['true'] } }])),
  )
  expect(outcomes).toMatchObject([{ status: 'fulfilled' }, { reason: defect }, { status: 'fulfilled' }])
})

test('each submission of a group is checked against the quotas for the level of its submitter', async () => {
  const researcher = await it.user('rita', 'RESEARCHER')
  const lead = { ...researcher, level: 'LEAD' as const }
  const quota = { type: 'CONCURRENT_JOBS', action: 'BLOCK', scope: 'LEVEL', key: 'RESEARCHER', limit: 0 }
  const id = await createQuota(it.domain, it.admin, quota)
  const outcomes = await Promise.all(
    [lead, researcher].map((one) => submitJobs(it.domain, one, [{ spec: { command: ['true'] } }])),
  )
  expect(outcomes).toMatchObject([[{ jobId: expect.any(String) }], [{ code: 'QUOTA_EXCEEDED' }]])
  await deleteQuota(it.domain, it.admin, { id })
})

test('userMaxBlocked limits the jobs waiting for approval, also within one call', async () => {
  await updateLimits(it.domain, it.admin, { userMaxBlocked: 2 })
  const olga = await it.user('olga', 'RESEARCHER')
  const submit = (viewer: Viewer, ...asks: boolean[]) =>
    submitJobs(
      it.domain,
      viewer,
      asks.map((requiresApproval) => ({ spec: { command: ['true'] }, requiresApproval })),
    )
  const refused = { code: 'QUOTA_EXCEEDED', quota: 'MAX_BLOCKED', scope: 'user:olga', limit: 2, used: 2 }
  const accepted = { jobId: expect.any(String) }
  const first = await submit(olga, true, true, true, false)
  expect(first).toMatchObject([accepted, accepted, refused, accepted])
  expect(await submit(olga, true)).toMatchObject([refused])
  expect(await submit(await it.user('otto', 'RESEARCHER'), true)).toMatchObject([accepted])
  const [{ jobId } = { jobId: '' }] = first as { jobId: string }[]
  await cancelJob(it.domain, olga, { jobId })
  expect(await submit(olga, true, true)).toMatchObject([accepted, refused])
})
