import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import {
  InvalidJobException,
  InvalidStateException,
  Job,
  JobAttributes,
  JobExecutor,
  JobSpec,
  JobState,
  type JobStatus,
  ResourceSpecV1,
  SubmitException,
  TimeInterval,
  TimeUnit,
} from '../../../src/client/psij/index.ts'
import { openServer } from '../../support/api.ts'
import { freePort } from '../../support/berth-server.ts'

/** The examples of PSI/J's appendix over a simulated pool, and the rules of its objects. */

const config = `
pools:
  - name: sim
    executor: simulated
    relaxReplicas: true
    nodes: [{ name: n1, cpu: 64, memoryGib: 64, gpus: [{ model: "V100", memoryGib: 32, count: 8 }] }]
    limits: { maxConcurrent: 2 }
`
const berth = await openServer(config)
const jex = JobExecutor.getInstance('simulated', { url: berth.server.url })
afterAll(() => jex.close())
beforeEach(() => jex.setJobStatusCallback(null))

interface Runs {
  nodes: { number: number; nativeId: string }[]
}

const makeJob = (seconds = '0.05') => {
  const spec = new JobSpec({ executable: '/bin/sleep', arguments: ['10'], environment: { SIM_RUN_SECONDS: seconds } })
  return new Job(spec)
}

describe('the examples in the appendix of the PSI/J specification', () => {
  it('can submit N jobs and wait for them', async () => {
    const jobs = Array.from({ length: 3 }, () => makeJob())
    for (const job of jobs) await jex.submit(job)
    for (const job of jobs) expect((await job.wait())?.state).toBe(JobState.COMPLETED)
  })

  it('can run N jobs, at most M at a time', async () => {
    const [jobsMax, atOnce] = [6, 2]
    const jobs = Array.from({ length: jobsMax }, () => makeJob())
    let count = 0
    const submitNext = async () => {
      const next = jobs[count++]
      if (next) await jex.submit(next)
    }
    jex.setJobStatusCallback((_job, status) => {
      if (status.isFinal) void submitNext()
    })
    while (count < atOnce) await submitNext()
    for (const job of jobs) await job.wait()
    expect(jobs.map(({ status }) => status.state.name)).toEqual(jobs.map(() => 'COMPLETED'))
  })

  it('can distinguish a job that Berth refuses from others', async () => {
    const [first, second] = [makeJob(), makeJob()]
    if (second.spec) second.spec.executable = true as unknown as string
    await jex.submit(first)
    await expect(jex.submit(second)).rejects.toThrow(InvalidJobException)
    expect(second.status.state).toBe(JobState.NEW)
    await first.wait()
  })

  it('can wait for QUEUED, and then cancel', async () => {
    const job = makeJob('600')
    await jex.submit(job)
    await job.wait([JobState.QUEUED])
    await job.cancel()
    await job.cancel()
    expect((await job.wait())?.state).toBe(JobState.CANCELED)
    await job.cancel()
  })

  it('can request processes, cores and GPUs', async () => {
    const resources = new ResourceSpecV1({ processCount: 4, cpuCoresPerProcess: 4, gpuCoresPerProcess: 1 })
    const spec = new JobSpec({
      executable: 'echo',
      arguments: ['foo', 'bar', 'buz'],
      directory: '/tmp/',
      resources,
    })
    const job = new Job(spec)
    await jex.submit(job)
    expect((await job.wait())?.state).toBe(JobState.COMPLETED)
  })

  it('can set the duration, queue and project of a job', async () => {
    const resources = new ResourceSpecV1()
    resources.exclusiveNodeUse = false
    resources.processCount = 2
    resources.processesPerNode = 2
    const spec = new JobSpec({ name: 'psij_example', directory: '/tmp', executable: 'workload.py', resources })
    spec.inheritEnvironment = true
    spec.environment = { FOO: 'foo', BAR: 'bar' }
    spec.attributes = new JobAttributes({ duration: new TimeInterval(1_000), queueName: 'default', projectName: 'p' })
    const job = new Job(spec)
    await jex.submit(job)
    await job.wait()
    const query =
      'query ($id: ID!) { job(id: $id) { project queue { name } spec { maxRunTimeSeconds environment { name } } } }'
    expect(await berth.api.ask(query, { id: job.nativeId })).toEqual({
      job: {
        project: 'p',
        queue: { name: 'default' },
        spec: { maxRunTimeSeconds: 1_000, environment: [{ name: 'FOO' }, { name: 'BAR' }] },
      },
    })
  })

  it('can submit a job again after a transient failure', async () => {
    const away = new JobExecutor(undefined, {
      url: `http://127.0.0.1:${await freePort()}`,
      sleep: async () => undefined,
    })
    const job = makeJob()
    const failure = await away.submit(job).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(SubmitException)
    expect((failure as SubmitException).isTransient()).toBe(true)
    expect(job.status.state).toBe(JobState.NEW)
    await away.close()
    await jex.submit(job)
    await job.wait()
  })
})

describe('a PSI/J job', () => {
  it('reports its states in order, with their times and the native id', async () => {
    const job = makeJob()
    const seen: JobStatus[] = []
    job.setStatusCallback({ jobStatusChanged: (_job, status) => seen.push(status) })
    await jex.submit(job)
    expect(job.nativeId).toMatch(/^job_/)
    await job.wait()
    expect(seen.map(({ state }) => state.name)).toEqual(['QUEUED', 'ACTIVE', 'COMPLETED'])
    expect(seen.every(({ time }) => time instanceof Date)).toBe(true)
    expect(seen.at(-1)).toMatchObject({ exitCode: 0, metadata: { nativeId: expect.any(String), run: 1 } })
  })

  it('runs for at most 600 s by default', async () => {
    const job = makeJob()
    await jex.submit(job)
    const query = 'query ($id: ID!) { job(id: $id) { spec { maxRunTimeSeconds durationSeconds } } }'
    expect(await berth.api.ask(query, { id: job.nativeId })).toEqual({
      job: { spec: { maxRunTimeSeconds: 600, durationSeconds: 600 } },
    })
    await job.wait()
  })

  it('can be waited for with a timeout', async () => {
    const job = makeJob('600')
    expect(await job.wait([JobState.QUEUED], new TimeInterval(0.01))).toBeNull()
    await jex.submit(job)
    expect(await job.wait([JobState.ACTIVE])).toBe(job.status)
    await job.cancel()
    await job.wait()
  })

  it('can be waited for longer than the maximum of a JavaScript timer', async () => {
    const job = makeJob()
    const end = job.wait([], TimeInterval.of(1_000, 0, 0))
    await jex.submit(job)
    expect((await end)?.state).toBe(JobState.COMPLETED)
  })

  it('ends its wait when its executor is closed', async () => {
    const closing = JobExecutor.getInstance('simulated', { url: berth.server.url })
    const [job, attached] = [makeJob('30'), new Job()]
    await closing.submit(job)
    await closing.attach(attached, job.nativeId ?? '')
    const ends = [job.wait(), attached.wait()]
    await closing.close()
    expect(await Promise.all([...ends, job.wait()])).toEqual([null, null, null])
    const again = new Job()
    await jex.attach(again, job.nativeId ?? '')
    await again.cancel()
  })

  it('is not affected by a call of wait with wrong arguments', async () => {
    const job = makeJob()
    await expect(job.wait(new TimeInterval(1) as never)).rejects.toThrow('a list of target states')
    await jex.submit(job)
    expect((await job.wait())?.state).toBe(JobState.COMPLETED)
  })

  it('can be submitted only once, and cancelled only after that', async () => {
    const job = makeJob()
    await expect(job.cancel()).rejects.toThrow(InvalidStateException)
    await jex.submit(job)
    await expect(jex.submit(job)).rejects.toThrow(InvalidStateException)
    await expect(jex.attach(job, 'x')).rejects.toThrow(InvalidJobException)
    await job.wait()
  })

  it('is refused with the invalid field', async () => {
    const resources = new ResourceSpecV1({ nodeCount: 1, processCount: 1 })
    const refused = new Job(new JobSpec({ executable: 'true', resources }))
    await expect(jex.submit(refused)).rejects.toThrow(/exclude each other/)
    const unknown = new Job(
      new JobSpec({ executable: 'true', attributes: new JobAttributes({ queueName: 'nowhere' }) }),
    )
    await expect(jex.submit(unknown)).rejects.toThrow(/queue/)
    const misspelt = [
      new JobSpec({ executable: 'true', stdin: '/dev/null' } as object),
      new JobSpec({ executable: 'true', resources: Object.assign(new ResourceSpecV1(), { coresPerProcess: 2 }) }),
      new JobSpec({ executable: 'true', attributes: new JobAttributes({ queue: 'q' } as object) }),
    ]
    for (const [i, name] of ['spec.stdin', 'resources.coresPerProcess', 'attributes.queue'].entries())
      await expect(jex.submit(new Job(misspelt[i]))).rejects.toThrow(`${name} is not known; `)
  })
})

describe('attach of a PSI/J job', () => {
  it('accepts the id of the job in Berth, and its native id', async () => {
    const job = makeJob('600')
    await jex.submit(job)
    const active = await job.wait([JobState.ACTIVE])
    expect(await jex.list()).toContain(job.nativeId)
    const [one, other] = [new Job(), new Job()]
    await jex.attach(one, job.nativeId ?? '')
    await one.wait([JobState.ACTIVE])
    await jex.attach(other, active?.metadata.nativeId ?? '')
    await other.wait([JobState.ACTIVE])
    expect([one.nativeId, other.nativeId]).toEqual([job.nativeId, job.nativeId])
    await one.cancel()
    expect((await other.wait())?.state).toBe(JobState.CANCELED)
    expect(await jex.list()).not.toContain(job.nativeId)
  })

  it('reports the native id of each run', async () => {
    const environment = [{ name: 'SIM_EXIT_CODE', value: '3' }]
    const retried = { executable: 'fail', executor: 'SIMULATED', environment, retry: { maxAttempts: 2 } }
    const jobId = await berth.api.submit(retried)
    const isOver = new Job()
    await jex.attach(isOver, jobId)
    await isOver.wait()
    const seen: JobStatus[] = []
    const job = new Job()
    job.setStatusCallback({ jobStatusChanged: (_job, status) => seen.push(status) })
    await jex.attach(job, jobId)
    await job.wait()
    const query = 'query ($id: ID!) { job(id: $id) { runs(first: 3) { nodes { number nativeId } } } }'
    const { runs } = (await berth.api.ask<{ job: { runs: Runs } }>(query, { id: jobId })).job
    const told = seen.filter(({ metadata: { nativeId } }) => nativeId !== undefined).map(({ metadata }) => metadata)
    expect(told.map(({ run, nativeId }) => ({ number: run, nativeId }))).toEqual(
      runs.nodes.toSorted((a, b) => a.number - b.number),
    )
    expect(new Set(runs.nodes.map(({ nativeId }) => nativeId)).size).toBe(2)
  })

  it('permits to cancel the job at once', async () => {
    const [job, attached] = [makeJob('30'), new Job()]
    await jex.submit(job)
    await jex.attach(attached, job.nativeId ?? '')
    await attached.cancel()
    expect((await attached.wait())?.state).toBe(JobState.CANCELED)
    await attached.cancel()
  })

  it('reports FAILED for a native id that Berth does not know', async () => {
    const job = new Job()
    await jex.attach(job, '4711')
    expect(await job.wait()).toMatchObject({ state: JobState.FAILED, message: expect.stringMatching(/4711/) })
  })
})

describe('values of PSI/J', () => {
  it('of resources have defaults, which are not sent', () => {
    const resources = new ResourceSpecV1()
    const { nodeCount, exclusiveNodeUse, processCount, processesPerNode } = resources
    expect([nodeCount, exclusiveNodeUse, processCount, processesPerNode]).toEqual([1, false, 1, 1])
    expect([resources.cpuCoresPerProcess, resources.gpuCoresPerProcess, resources.version]).toEqual([1, 0, 1])
    expect(resources.given).toEqual({})
  })

  it('of states are ordered, but final states are not ordered among each other', () => {
    const { NEW, QUEUED, ACTIVE, COMPLETED, FAILED, CANCELED } = JobState
    const order = [NEW, QUEUED, ACTIVE]
    for (const [i, state] of order.entries())
      for (const [j, other] of order.entries()) expect(state.isGreaterThan(other)).toBe(i > j)
    for (const final of [COMPLETED, FAILED, CANCELED]) {
      expect(final.isFinal && final.isGreaterThan(ACTIVE) && !ACTIVE.isGreaterThan(final)).toBe(true)
      expect([COMPLETED, FAILED, CANCELED].some((other) => final.isGreaterThan(other))).toBe(false)
    }
  })

  it('of time are rounded up to seconds', () => {
    expect(new TimeInterval(1.5, TimeUnit.MINUTE).toSeconds()).toBe(90)
    expect(TimeInterval.of(1, 1, 0.2).toSeconds()).toBe(3_661)
  })
})
