import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import {
  type Api,
  connectApi,
  readJob,
  type StatusAnswer,
  statusQuery,
  type TailAnswer,
  tailQuery,
} from '../support/api.ts'
import { type BerthServer, startBerth } from '../support/berth-server.ts'
import { ask, type Json, type Result, streamSocket, streamSse } from '../support/client.ts'
import { openDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { createDoor, type Door } from '../support/outage.ts'
import { until } from '../support/until.ts'

/** PostgreSQL stops and restarts: callers get an error, no job ends, and no memory or data is lost. */
let door: Door
const dataDir = makeDirectory()
let server: BerthServer
let api: Api

const database = await openDatabase()
beforeAll(async () => {
  door = await createDoor(database.url)
  server = await startBerth({ dataDir, env: { DATABASE_URL: door.url } })
  api = connectApi(server.url)
})
afterAll(async () => {
  await api.close()
  const exitCode = await server.end()
  await door.shut()
  expect(exitCode).toBe(0)
})

/** A job that counts, on its output and in a file, until the file `end` exists. */
const counter = `i=0
while [ ! -e "$1/end" ]; do i=$((i+1)); echo "line $i"; echo $i > "$1/count.new"; mv "$1/count.new" "$1/count"; sleep 0.02; done`

const count = async () => Number(await readFile(join(dataDir, 'count'), 'utf8').catch(() => '0'))
const counted = (from: number) => until(async () => (await count()) >= from, { what: `the job counts to ${from}` })

async function collect(stream: AsyncIterable<Result>, seen: Json[]): Promise<Json[]> {
  for await (const { data, errors } of stream) {
    if (errors) throw new Error(JSON.stringify(errors))
    seen.push(Object.values(data ?? {})[0])
  }
  return seen
}

const submit = `mutation { submitJob(input: { spec: { command: ["true"] } }) {
  ... on SubmitJobSuccess { job { id } } ... on Problem { code message retryable } } }`
const refusedThings: [query: string, told: object][] = [
  ['{ jobs(first: 1) { nodes { id } } }', { errors: [{ extensions: { code: 'UNAVAILABLE' } }] }],
  ['{ pool { workload { depth } } }', { errors: [{ extensions: { code: 'UNAVAILABLE' } }] }],
  [submit, { data: { submitJob: { code: 'UNAVAILABLE', retryable: true } } }],
]

async function demandRefusals() {
  for (const [query, told] of refusedThings) {
    const { status: _, ...answer } = await ask(server.url, query)
    expect(answer).toMatchObject(told)
    expect(JSON.stringify(answer)).not.toMatch(/ECONN|127\.0\.0\.1|SELECT|INSERT|prisma|postgres|node_modules/i)
  }
}

test('during a database outage calls fail with an error; afterwards streams continue without a loss', async () => {
  const jobId = await api.submit({ command: ['sh', '-c', counter, 'counter', dataDir] })
  const seen: TailAnswer[] = []
  // The clients do not reconnect, so these connections must survive.
  const tail = collect(streamSocket(server.url, tailQuery, { jobId }), seen)
  const status = collect(streamSse(server.url, statusQuery, { jobId }), [])
  const queue = streamSocket(server.url, 'subscription { workloadStatus { depth running } }')
  expect((await queue.next()).value).toMatchObject({ data: { workloadStatus: {} } })
  await until(() => seen.some((message) => message.__typename === 'LogBatch'), { what: 'output is there' })

  await door.shut()
  const before = await count()
  await demandRefusals()
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
  await counted(before + 150) // longer than a leader stays one without the database
  await demandRefusals()
  await door.open()

  await until(async () => (await ask(server.url, '{ pool { workload { depth } } }')).data, {
    what: 'the database answers',
  })
  await counted((await count()) + 20)
  await writeFile(join(dataDir, 'end'), '')
  const text = (await tail)
    .map((message: TailAnswer) => (message.__typename === 'LogBatch' ? message.text : ''))
    .join('')
  const lines = Array.from({ length: await count() }, (_, index) => `line ${index + 1}\n`)
  expect(text).toBe(lines.join(''))

  const transitions = (await status).flatMap((message: StatusAnswer) =>
    message.__typename === 'JobTransitions' ? message.transitions : [],
  )
  const [first] = transitions
  expect(transitions.map(({ seq }) => seq)).toEqual([1, 2, 3, 4].slice((first?.seq ?? 1) - 1))
  expect(transitions.at(-1)).toMatchObject({ seq: 4, to: 'SUCCEEDED' })
  expect(await readJob(api, jobId)).toMatchObject({ state: 'SUCCEEDED', runs: { nodes: [{ number: 1 }] } })
  for await (const { data } of queue) if (data?.['workloadStatus'].running === 0) break // it tells of the end, too
})

test('sessions that PostgreSQL terminates repeatedly cause only delays', async () => {
  const { sql } = database.db
  const specs = Array.from({ length: 10 }, () => ({ command: ['true'], resources: { cpu: 0.1, memoryBytes: 2 ** 24 } }))
  const done = async (ids: readonly string[]) =>
    (await sql.query('SELECT id FROM job WHERE id = ANY($1) AND log_closed', [ids])).length
  const all: string[] = []
  for (let round = 0; round < 5; round++) {
    const ids = await until(() => api.submitAll(specs).catch(() => null), { what: 'ten jobs are taken' })
    all.push(...ids)
    await until(async () => (await done(ids)) > 0, { what: 'some have ended' })
    await sql.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'berth%' AND application_name <> 'berth test'`,
    )
  }
  await until(async () => (await done(all)) === all.length, { what: 'all have ended' })
  const [row] = await sql.query<{ ok: number }>(
    `SELECT count(*) AS ok FROM job WHERE id = ANY($1) AND state = 'SUCCEEDED' AND version = 4`,
    [all],
  )
  expect(row?.ok).toBe(all.length)
  expect(await findViolations(sql)).toEqual([])
})

/** The interruption is shorter than a lease: the leader loses its lock, and leads again at once. */
const shortBreakMs = 400

test('a leader that is disconnected for a short time leads again, and starts the waiting jobs', async () => {
  const leads = 'SELECT epoch::int AS epoch FROM scheduler_leader'
  const specs = Array.from({ length: 18 }, () => ({
    command: ['sleep', '0.2'],
    resources: { cpu: availableParallelism() / 2, memoryBytes: 2 ** 24 },
  }))
  const ids = await api.submitAll(specs)
  const [before] = await database.db.sql.query<{ epoch: number }>(leads)
  await door.shut()
  await sleep(shortBreakMs)
  const queued = "SELECT id FROM job WHERE id = ANY($1) AND state = 'QUEUED'"
  expect(await database.db.sql.query(queued, [ids])).not.toEqual([])
  await door.open()
  const waiting = "SELECT id FROM job WHERE id = ANY($1) AND state <> 'SUCCEEDED'"
  await until(async () => (await database.db.sql.query(waiting, [ids])).length === 0, {
    what: 'all have ended',
  })
  const [after] = await database.db.sql.query<{ epoch: number }>(leads)
  expect(after?.epoch).toBeGreaterThan(before?.epoch ?? 0)
})

/** Components of the server that an outage affects, each with a line when it begins and when it ends. */
const partsMax = 25

test('the log has one line without a stack for each component that an outage affects', () => {
  const lines = server.output().match(/^\{.*$/gm) ?? []
  const troubles = lines.filter((line) => line.includes('"trouble"'))
  expect(troubles.length).toBeGreaterThan(0)
  expect(lines.length).toBeLessThan(2 * partsMax)
  expect(server.output()).not.toContain('"stack"')
})
