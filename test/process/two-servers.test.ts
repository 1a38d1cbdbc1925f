import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
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
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { openDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { until } from '../support/until.ts'

/** Server processes over one PostgreSQL: no process keeps data that another one needs. */
const dataDir = makeDirectory()
const servers: BerthProcess[] = []
const apis: Api[] = []

const config = (notify: boolean) => `
database: { notify: ${notify} }
pools:
  - { name: sim, executor: simulated, nodes: [{ name: n1, cpu: 32, memoryGib: 64 }] }
`

async function start(notify: boolean): Promise<{ server: BerthProcess; api: Api }> {
  const path = join(dataDir, `config-${notify}.yaml`)
  await writeFile(path, config(notify))
  const env = { DATABASE_URL: database.url, BERTH_CONFIG: path }
  const server = await startBerthProcess({ dataDir, env })
  const api = connectApi(server.url)
  servers.push(server)
  apis.push(api)
  return { server, api }
}

const database = await openDatabase()
afterAll(async () => {
  for (const api of apis) await api.close()
  for (const server of servers) await server.end()
})

const leaderOf = async () => {
  const [row] = await database.db.sql.query<{ holder: string | null; epoch: number }>(
    'SELECT holder, epoch FROM scheduler_leader',
  )
  return row
}

async function followed(api: Api, jobId: string) {
  const events: number[] = []
  let text = ''
  const status = (async () => {
    for await (const message of api.stream<StatusAnswer>('jobStatus', statusQuery, { jobId }))
      if (message.__typename === 'JobTransitions') events.push(...message.transitions.map(({ seq }) => seq))
  })()
  for await (const message of api.stream<TailAnswer>('tail', tailQuery, { jobId }))
    if (message.__typename === 'LogBatch') text += message.text
  await status
  return { events, text }
}

const simulated = (more: Record<string, string>) => ({
  command: ['simulated'],
  resources: { cpu: 0.1, memoryBytes: 1 },
  environment: Object.entries(more).map(([name, value]) => ({ name, value })),
})

const tenLines = Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join('')

test('a subscriber of one server follows a job of the other server, from the first event to the last', async () => {
  const [a, b] = [await start(true), await start(true)]
  const jobId = await a.api.submit(simulated({ SIM_RUN_SECONDS: '0.5', SIM_LOG_LINES: '10' }))
  const { events, text } = await followed(b.api, jobId)
  expect(text).toBe(tenLines)
  expect(events.at(-1)).toBe(4)
  expect(events).toEqual(Array.from({ length: events.length }, (_, i) => 5 - events.length + i))
})

test('subscribers receive the same events by polling, without notifications', async () => {
  const { api } = await start(false)
  const first = apis[0] ?? api
  const jobId = await first.submit(simulated({ SIM_RUN_SECONDS: '0.5', SIM_LOG_LINES: '10' }))
  const { events, text } = await followed(api, jobId)
  expect(text).toBe(tenLines)
  expect(events.at(-1)).toBe(4)
})

test('after a kill of the leader of 1,000 jobs, another process leads, and every job has exactly one run', async () => {
  const before = await leaderOf()
  const leader = servers.find(({ pid }) => before?.holder?.includes(`:${pid}:`))
  const others = apis.filter((_, index) => servers[index] !== leader)
  const ids = await (others[0] as Api).submitAll(
    Array.from({ length: 1_000 }, () => simulated({ SIM_RUN_SECONDS: '0.2' })),
  )
  const done = async () =>
    (
      await database.db.sql.query<{ n: number }>(
        `SELECT count(*) AS n FROM job WHERE id = ANY($1) AND state = 'SUCCEEDED'`,
        [ids],
      )
    )[0]?.n ?? 0
  await until(async () => (await done()) > 100, { what: 'some are done' })
  await leader?.end('SIGKILL')
  await until(async () => ((await leaderOf())?.epoch ?? 0) > (before?.epoch ?? 0), {
    what: 'another leads',
  })
  await until(async () => (await done()) === 1_000, { what: 'all are done', timeoutMs: 90_000 })
  const runs = await database.db.sql.query('SELECT job_id FROM run WHERE job_id = ANY($1)', [ids])
  expect(runs).toHaveLength(1_000)
  expect(await findViolations(database.db.sql)).toEqual([])
  expect(await readJob(others[0] as Api, ids[0] ?? '')).toMatchObject({ state: 'SUCCEEDED', version: 4 })
})
