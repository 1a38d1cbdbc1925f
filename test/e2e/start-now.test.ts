import { chmod } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, connectApi, readJob } from '../support/api.ts'
import { type BerthServer, startBerth } from '../support/berth-server.ts'
import { data } from '../support/client.ts'
import { openDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { until } from '../support/until.ts'

/** Previews and noWait that one process requests and another one executes, or that have no leader. */
const dataDir = makeDirectory()
let asked: BerthServer
let api: Api

const start = async (role: 'api' | 'scheduler,api') =>
  startBerth({ dataDir, env: { DATABASE_URL: database.url, BERTH_ROLES: role } })

const database = await openDatabase()
beforeAll(async () => {
  await chmod(dataDir, 0o711)
  asked = await start('api')
  api = connectApi(asked.url)
})
afterAll(async () => {
  await api.close()
  await asked.end()
})

interface Answer {
  __typename: string
  code?: string
  message?: string
  retryable?: boolean
  wouldBe?: string
  reasons?: { code: string; scope: { kind: string; name: string } | null; limit: number | null; used: number | null }[]
  job?: { id: string; state: string }
}

async function submit(wish: Record<string, unknown>, spec: Record<string, unknown> = {}): Promise<Answer> {
  const query = `mutation ($input: SubmitJobInput!) { submitJob(input: $input) { __typename
    ... on SubmitJobSuccess { job { id state } }
    ... on RejectedProblem { reasons { code scope { kind name } limit used } }
    ... on Problem { code message retryable } } }`
  const input = { ...wish, spec: { command: ['true'], ...spec } }
  // Does not use the client, which would retry.
  return (await data(asked.url, query, { input }))['submitJob'] as Answer
}

async function preview(): Promise<Answer> {
  const query = `query ($input: PreviewJobInput!) { previewJob(input: $input) { __typename
    ... on JobPreview { wouldBe nodeNames gpuIds position reasons { code scope { kind name } limit used } spec { command } }
    ... on Problem { code message retryable } } }`
  const input = { submit: { spec: { command: ['true'] } } }
  return (await data(asked.url, query, { input }))['previewJob'] as Answer
}

const machine = async () =>
  (await data(asked.url, '{ system { loadAvg5Min memoryPercent } }'))['system'] as Record<string, number | null>

test('without a leader, previewJob and noWait fail as UNAVAILABLE after five seconds, and write no rows', async () => {
  const unavailable = {
    __typename: 'UnavailableProblem',
    code: 'UNAVAILABLE',
    message: 'Pool local has no scheduler right now; try again',
    retryable: true,
  }
  const answers = await Promise.all([preview(), submit({ noWait: true, idempotencyKey: 'k' })])
  expect(answers).toEqual([unavailable, unavailable])
  expect(await machine()).toEqual({ loadAvg5Min: null, memoryPercent: null })
  const { rows } = await database.db.pool.query(
    'SELECT (SELECT count(*)::int FROM job) AS jobs, (SELECT count(*)::int FROM idempotency_key) AS keys, (SELECT count(*)::int FROM question) AS questions',
  )
  expect(rows).toEqual([{ jobs: 0, keys: 0, questions: 0 }])
})

test('a leader in another process answers previews, reports its machine and applies limits', async () => {
  const leader = await start('scheduler,api')
  try {
    const reported = await until(
      async () => {
        const answer = await machine()
        return answer['memoryPercent'] !== null && answer
      },
      { what: 'the machine is reported' },
    )
    expect(reported).toEqual({ loadAvg5Min: expect.any(Number), memoryPercent: expect.any(Number) })
    expect(await preview()).toMatchObject({ __typename: 'JobPreview', wouldBe: 'STARTING', reasons: [] })
    const started = await submit({ noWait: true }, { command: ['sleep', '60'] })
    expect(started.job?.state).toMatch(/^(STARTING|RUNNING)$/)
    const limits = `mutation { updateLimits(input: { maxConcurrent: 1 }) { ... on UpdateLimitsSuccess { limits { maxConcurrent } } } }`
    expect(await api.ask(limits)).toEqual({ updateLimits: { limits: { maxConcurrent: 1 } } })
    const full = [{ code: 'GLOBAL_LIMIT', scope: { kind: 'POOL', name: 'local' }, limit: 1, used: 1 }]
    expect(await submit({ noWait: true })).toMatchObject({ code: 'REJECTED', retryable: true, reasons: full })
    expect(await preview()).toMatchObject({ wouldBe: 'QUEUED', reasons: full, position: 1 })
    const waits = await api.submit({ command: ['true'] })
    const scheduling = `query ($id: ID!) { job(id: $id) { scheduling { reasons { code scope { kind name } limit used } } } pool { limits { maxConcurrent } workload { running } } }`
    expect(await api.ask(scheduling, { id: waits })).toEqual({
      job: { scheduling: { reasons: full } },
      pool: { limits: { maxConcurrent: 1 }, workload: { running: 1 } },
    })
    await api.ask('mutation ($id: ID!) { cancelJob(input: { jobId: $id }) { __typename } }', { id: started.job?.id })
    for await (const { isFinal } of api.stream<{ isFinal?: boolean }>(
      'jobStatus',
      'subscription ($id: ID!) { jobStatus(jobId: $id) { ... on JobTransitions { isFinal cursor } } }',
      { id: waits },
    ))
      if (isFinal) break
    expect((await readJob(api, waits)).state).toBe('SUCCEEDED')
  } finally {
    await leader.end()
  }
})
