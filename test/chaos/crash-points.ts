import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../simulate/random.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { startPostgres } from '../../src/platform/postgres/postgres.ts'
import { startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { until } from '../support/until.ts'
import { withDirectory } from './directory.ts'
import { type Scenario, scaleByLoad } from './scenario.ts'
import { type Side, startWire } from './wire.ts'

/**
 * Jobs run through a server that is killed, or loses its database, at one request to PostgreSQL: in each round another
 * one, before or after PostgreSQL has executed it. Every job has the same result as without a fault, each run was
 * started once, and its output and events are complete.
 */
export const crashPoints: readonly Scenario[] = [
  { name: 'crash-points', run: (context) => withDirectory((directory) => sweep(directory, context)) },
]

/** About as many requests as the jobs of a round need. */
const requestsMax = 150
const overMs = 60_000
const retryMs = 200
const answerMs = 30_000

const pool = `pools:
  - { name: local, executor: local, jobsAsRoot: true, nodes: [{ name: n1, cpu: 8, memoryGib: 8 }] }
`

interface Kind {
  /** `$1`: a file to which each run appends a line. */
  script: string
  spec?: object
  isCancelled?: boolean
  ends: { state: string; exitCode: number | null; runs: number; output: string }
}

const kinds: Record<string, Kind> = {
  fails: {
    script: 'echo ran >>"$1"; echo out; sleep 0.2; echo err >&2; exit 3',
    ends: { state: 'FAILED', exitCode: 3, runs: 1, output: 'out\nerr\n' },
  },
  cancelled: {
    script: 'echo ran >>"$1"; echo begun; exec sleep 600',
    isCancelled: true,
    ends: { state: 'CANCELLED', exitCode: 143, runs: 1, output: 'begun\n' },
  },
  repeated: {
    script: 'echo ran >>"$1"; echo try; [ "$(wc -l <"$1")" -ge 2 ]',
    spec: { retry: { maxAttempts: 3 } },
    ends: { state: 'SUCCEEDED', exitCode: 0, runs: 2, output: 'try\ntry\n' },
  },
}

const submission = `mutation ($input: SubmitJobInput!) { submitJob(input: $input) {
  ... on SubmitJobSuccess { job { id } } ... on Problem { code message retryable } } }`
const cancellation = `mutation ($id: ID!) { cancelJob(input: { jobId: $id }) { __typename ... on Problem { code message retryable } } }`
const question = `query ($id: ID!) { job(id: $id) { state version exitCode logs(first: 100) { text isFinal }
  runs(first: 10) { nodes { number state } } events(first: 100) { nodes { seq to } } } }`

interface Seen {
  state: string
  version: number
  exitCode: number | null
  logs: { text: string; isFinal: boolean }
  runs: { nodes: { number: number; state: string }[] }
  events: { nodes: { seq: number; to: string | null }[] }
}

const isFinal = (state: string) => /SUCCEEDED|FAILED|INTERRUPTED|CANCELLED/.test(state)

async function sweep(directory: string, { seed, seconds, log }: Parameters<Scenario['run']>[0]): Promise<void> {
  const random = new Random(seed)
  const postgres = await startPostgres({ dataDir: directory, log: createLog('error'), clock: systemClock })
  const wire = await startWire(postgres.url)
  const config = join(directory, 'berth.yaml')
  await writeFile(config, pool)
  const env = { DATABASE_URL: wire.url, BERTH_CONFIG: config }
  const port = await freePort()
  const start = () => startBerthProcess({ dataDir: directory, port, env })
  let server = await start()
  const counts = { rounds: 0, kills: 0, cuts: 0 }

  /** Returns when all jobs are over and correct. */
  async function round(isKill: boolean, at: number, side: Side): Promise<void> {
    const stopped = wire.stopAt(at, side).then(() => true)
    const work = play(server.url, directory, `${seed}-${counts.rounds++}`)
    const isOver = work.then(() => false)
    if (await Promise.race([stopped, isOver])) {
      counts[isKill ? 'kills' : 'cuts']++
      if (isKill) await server.end('SIGKILL')
      wire.cut()
      if (isKill) server = await start()
    }
    await work
  }

  try {
    const end = performance.now() + seconds * 1_000
    do {
      const [isKill, at, side] = [
        random.chance(0.7),
        random.between(1, requestsMax),
        random.of<Side>(['unheard', 'unanswered']),
      ]
      await round(isKill, at, side).catch((cause: unknown) => {
        throw new Error(`${isKill ? 'killed' : 'cut'} at request ${at}, ${side}: ${cause}`, { cause })
      })
    } while (performance.now() < end)
    await demandSound(server.url)
  } catch (error) {
    log(`the server said: ${server.output().slice(-2_000)}`)
    throw error
  } finally {
    log(JSON.stringify(counts))
    await server.end('SIGKILL')
    await wire.close()
    await postgres.stop()
  }
}

async function demandSound(url: string): Promise<void> {
  const { selfCheck } = await ask<{ selfCheck: { findings: unknown[] } }>(
    url,
    '{ selfCheck { findings { rule objectId message } } }',
    {},
  )
  assert.deepEqual(selfCheck.findings, [])
}

async function play(url: string, directory: string, round: string): Promise<void> {
  await Promise.all(
    Object.entries(kinds).map(([name, kind]) => playOne(url, join(directory, `${round}-${name}`), kind, name)),
  )
}

interface Answer {
  data?: Record<string, { code?: string; retryable?: boolean } | null> | null
  errors?: { message: string; extensions?: { code?: string } }[]
}

/** Retries while the server, or its database, is unavailable. */
async function ask<Result>(url: string, query: string, variables: object): Promise<Result> {
  const endsMs = performance.now() + scaleByLoad(overMs)
  for (;;) {
    const answer = await post(url, JSON.stringify({ query, variables }))
    const problem = Object.values(answer?.data ?? {}).find((field) => field?.code)
    if (answer && !answer.errors && !problem) return answer.data as Result
    const isAway = problem
      ? problem.retryable
      : answer?.errors?.every(({ extensions }) => extensions?.code === 'UNAVAILABLE')
    if (answer && !isAway) throw new Error(JSON.stringify(answer))
    if (performance.now() > endsMs) throw new Error(`no answer to ${query}`)
    await sleep(retryMs)
  }
}

const post = (url: string, body: string): Promise<Answer | null> =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
    signal: AbortSignal.timeout(answerMs),
  }).then(
    (response) => response.json() as Promise<Answer>,
    () => null,
  )

async function playOne(
  url: string,
  file: string,
  { script, spec, isCancelled, ends }: Kind,
  name: string,
): Promise<void> {
  const input = { idempotencyKey: file.slice(-60), spec: { command: ['/bin/sh', '-c', script, 'sh', file], ...spec } }
  const { submitJob } = await ask<{ submitJob: { job: { id: string } } }>(url, submission, { input })
  const id = submitJob.job.id
  const look = async () => (await ask<{ job: Seen }>(url, question, { id })).job
  if (isCancelled) {
    await until(async () => (await look()).logs.text.includes('begun'), {
      what: `${name} prints`,
      timeoutMs: scaleByLoad(overMs),
    })
    await ask(url, cancellation, { id })
  }
  const seen = await until(
    async () => {
      const job = await look()
      return isFinal(job.state) && job.logs.isFinal && job
    },
    { what: `${name} ${id} is over`, timeoutMs: scaleByLoad(overMs) },
  )
  const { state, exitCode, logs, runs } = seen
  const lines = (text: string) => text.split('\n').toSorted().join('\n')
  assert.deepEqual(
    { state, exitCode, runs: runs.nodes.length, output: lines(logs.text) },
    { ...ends, output: lines(ends.output) },
    `${name} ${id}: ${JSON.stringify(seen)}`,
  )
  assert.equal((await readFile(file, 'utf8')).length, 4 * ends.runs, `${name} ran once for each run`)
  assert.deepEqual(
    seen.events.nodes.map(({ seq }) => seq),
    Array.from({ length: seen.version }, (_, index) => index + 1),
  )
}
