import { type ExecFileException, execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Db } from '../../src/platform/db.ts'
import { type Api, connectApi, readJob, type TailAnswer, tailQuery } from '../support/api.ts'
import { createEmptyDatabase, type EmptyDatabase } from '../support/backups.ts'
import { type BerthServer, startBerth } from '../support/berth-server.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'

/** A backup that is taken while clients submit and jobs run restores all data. */
let folder: string
let kept: AsyncDisposableStack

beforeEach(async () => {
  folder = makeDirectory()
  await chmod(folder, 0o711)
  kept = new AsyncDisposableStack()
})
afterEach(() => kept.disposeAsync())

const config = `
pools:
  - { name: local, executor: local, nodes: [{ name: here, cpu: 64, memoryGib: 64 }] }
  - { name: sim, executor: simulated, nodes: [{ name: n1, cpu: 32, memoryGib: 64 }] }
queues: [{ name: default, pool: local }, { name: sim, pool: sim }]
`

async function start(dataDir: string, more: Record<string, string> = {}): Promise<{ server: BerthServer; api: Api }> {
  await writeFile(join(folder, 'berth.yaml'), config)
  const env = { BERTH_CONFIG: join(folder, 'berth.yaml'), ...more }
  const server = await startBerth({ dataDir, env })
  kept.defer(async () => void (await server.end()))
  const api = connectApi(server.url)
  kept.defer(() => api.close())
  return { server, api }
}

/** Runs `berth backup` or `berth restore`. Returns its output and exit code. */
function runBackup(words: readonly string[], env: Record<string, string>): Promise<{ code: number; output: string }> {
  const args = [join(root, 'src/backup/main.ts'), '--', ...words]
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env } },
      (error, stdout, stderr) =>
        resolve({ code: Number((error as ExecFileException | null)?.code ?? 0), output: stdout + stderr }),
    )
  })
}

interface Submitted {
  idempotentHit: boolean
  job: { id: string }
}

async function submitWithKey(api: Api, key: string, spec: object): Promise<Submitted> {
  const { submitJob } = await api.ask<{ submitJob: Submitted }>(
    `mutation ($input: SubmitJobInput!) { submitJob(input: $input) {
      ... on SubmitJobSuccess { idempotentHit job { id } } ... on Problem { code message } } }`,
    { input: { spec, idempotencyKey: key } },
  )
  if (!submitJob.job) throw new Error(JSON.stringify(submitJob))
  return submitJob
}

const simulated = { command: ['true'], queue: 'sim' }
const printing = { command: ['sh', '-c', 'for i in $(seq 200); do echo "line $i ünïcode"; done'] }

/** Runs 50 clients that submit until they are stopped. Returns the keys and ids of accepted jobs. */
function submitConstantly(api: Api) {
  const accepted = new Map<string, string>()
  let isOver = false
  const clients = Array.from({ length: 50 }, async (_, client) => {
    for (let i = 0; !isOver; i++) {
      const key = `client-${client}-${i}`
      const { job } = await submitWithKey(api, key, client % 10 === 0 ? printing : simulated)
      accepted.set(key, job.id)
    }
  })
  return {
    accepted,
    stop: () => {
      isOver = true
      return Promise.all(clients)
    },
  }
}

async function hashOutput(api: Api, jobId: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const message of api.stream<TailAnswer>('tail', tailQuery, { jobId }))
    if (message.__typename === 'LogBatch') {
      hash.update(message.text)
      if (message.isFinal) break
    }
  return hash.digest('hex')
}

const stateOf = async (api: Api, id: string) => (await readJob(api, id)).state

test('a backup restored on an empty machine has the data, the audit log, the output and the keys', {
  timeout: 400_000,
}, async () => {
  const { server, api } = await start(join(folder, '.'))
  const prints = await api.submitAll(Array.from({ length: 5 }, () => printing))
  const sleeps = await api.submitAll([{ command: ['sleep', '600'] }, { command: ['sleep', '600'], restartable: true }])
  for (const id of prints) await until(async () => (await stateOf(api, id)) === 'SUCCEEDED', { what: `${id} ends` })
  for (const id of sleeps) await until(async () => (await stateOf(api, id)) === 'RUNNING', { what: `${id} runs` })
  const hashes = await Promise.all(prints.map((id) => hashOutput(api, id)))

  const clients = submitConstantly(api)
  await until(() => clients.accepted.size > 200, { what: '200 jobs are submitted' })
  const before = new Map(clients.accepted)
  const file = join(folder, 'backup.tar')
  const taken = await runBackup(['backup', file], { BERTH_DATA_DIR: folder })
  expect(taken).toMatchObject({ code: 0, output: expect.stringMatching(/ rows, /) })
  const during = clients.accepted.size - before.size
  await clients.stop()
  expect(during).toBeGreaterThan(0)
  await api.ask('mutation ($ids: [ID!]!) { cancelJobs(input: { selection: { jobIds: $ids } }) { __typename } }', {
    ids: sleeps,
  })
  for (const id of sleeps) await until(async () => (await stateOf(api, id)) === 'CANCELLED', { what: `${id} ends` })
  await server.end()

  const machine = join(folder, 'machine')
  const restored = await runBackup(['restore', file], { BERTH_DATA_DIR: machine })
  expect(restored).toMatchObject({
    code: 0,
    output: expect.stringMatching(/no problem found\naudit log: intact up to entry \d+\n$/),
  })
  expect(await readFile(join(machine, 'id'), 'utf8')).toBe(await readFile(join(folder, 'id'), 'utf8'))
  const { api: next } = await start(machine)

  for (const [key, id] of before) {
    const { idempotentHit, job } = await submitWithKey(next, key, key.match(/^client-\d*0-/) ? printing : simulated)
    expect([key, idempotentHit, job.id]).toEqual([key, true, id])
  }
  expect(await Promise.all(prints.map((id) => hashOutput(next, id)))).toEqual(hashes)
  // The processes of these runs are not on this machine.
  const [once = '', again = ''] = sleeps
  await until(async () => (await stateOf(next, once)) === 'INTERRUPTED', { what: 'the lost job ends' })
  await until(async () => (await readJob(next, again)).runs.nodes[1]?.state === 'RUNNING', {
    what: 'the lost job runs again',
  })
  const { selfCheck } = await next.ask<{ selfCheck: object }>('{ selfCheck { ok findings { rule message } } }')
  expect(selfCheck).toEqual({ ok: true, findings: [] })
  const { verifyAudit } = await next.ask<{ verifyAudit: object }>('{ verifyAudit { ok message } }')
  expect(verifyAudit).toEqual({ ok: true, message: null })
  await next.ask('mutation ($ids: [ID!]!) { cancelJobs(input: { selection: { jobIds: $ids } }) { __typename } }', {
    ids: [again],
  })
  await until(async () => (await stateOf(next, again)) === 'CANCELLED', { what: 'the job ends' })
})

/** Renames the second database to the name of the first, while servers try to connect. */
async function exchange(first: TestDatabase, second: EmptyDatabase) {
  const [name, other] = [first, second].map(({ url }) => new URL(url).pathname.slice(1))
  const client = new pg.Client(Object.assign(new URL(first.url), { pathname: 'postgres' }).href)
  await client.connect()
  for (const statement of [
    `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`,
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname IN ('${name}', '${other}')`,
    `ALTER DATABASE ${name} RENAME TO ${name}_old`,
    `ALTER DATABASE ${other} RENAME TO ${name}`,
    `DROP DATABASE ${name}_old`,
  ])
    await client.query(statement)
  await client.end()
}

test('a server that still runs is fenced off after a restore, and then continues its running job', {
  timeout: 400_000,
}, async () => {
  const database = kept.use(await createDatabase())
  const { server, api } = await start(folder, { DATABASE_URL: database.url, BERTH_LOG_LEVEL: 'info' })
  const stop = join(folder, 'stop')
  const id = await api.submit({
    command: ['sh', '-c', `i=0; until [ -e ${stop} ]; do i=$((i+1)); echo "line $i"; sleep 0.02; done`],
  })
  const storedBytes = async (db: Db) =>
    (await db.sql.query<{ bytes: number }>('SELECT end_offset AS bytes FROM run_log'))[0]?.bytes ?? 0
  await until(async () => (await storedBytes(database.db)) > 500, { what: 'output is stored' })

  const file = join(folder, 'backup.tar')
  expect(await runBackup(['backup', file], { DATABASE_URL: database.url, BERTH_DATA_DIR: folder })).toMatchObject({
    code: 0,
  })
  const empty = kept.use(await createEmptyDatabase(database))
  expect(await runBackup(['restore', file], { DATABASE_URL: empty.url, BERTH_DATA_DIR: folder })).toMatchObject({
    code: 0,
  })
  const bytes = await storedBytes(empty.db)
  await exchange(database, empty)

  await until(async () => (await storedBytes(database.db)) > bytes, { what: 'the restored database gets more output' })
  const epochs = await database.db.sql.query<{ epoch: number }>('SELECT epoch FROM scheduler_leader')
  expect(epochs.every(({ epoch }) => epoch > 1_000_000_000)).toBe(true)
  expect(server.output()).toMatch(/leads no more/)
  await writeFile(stop, '')
  await until(async () => (await stateOf(api, id)) === 'SUCCEEDED', { what: 'the job ends' })
  expect((await readJob(api, id)).runs.nodes).toHaveLength(1)
  let text = ''
  for await (const message of api.stream<TailAnswer>('tail', tailQuery, { jobId: id }))
    if (message.__typename === 'LogBatch') {
      text += message.text
      if (message.isFinal) break
    }
  const lines = text.trimEnd().split('\n')
  expect(lines).toEqual(lines.map((_, i) => `line ${i + 1}`))
})
