import assert from 'node:assert/strict'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Random } from '../../simulate/random.ts'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { findPostmaster } from '../../src/platform/postgres/cluster.ts'
import { startPostgres } from '../../src/platform/postgres/postgres.ts'
import { pgSql } from '../../src/platform/tx.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { ask } from '../support/client.ts'
import { createDoor, type Door } from '../support/outage.ts'
import { until } from '../support/until.ts'
import { withDirectory } from './directory.ts'
import { type Scenario, scaleByLoad } from './scenario.ts'

/** A database that is cut off, freezes or restarts: calls time out, and work continues soon after it is reachable. */
export const database: readonly Scenario[] = [
  { name: 'network-cuts', run: cutNetwork },
  { name: 'frozen-postgres', run: freezePostgres },
  { name: 'restarted-postgres', run: restartPostgres },
]

type Context = Parameters<Scenario['run']>[0]

const answerMsMax = 10_000
const goesOnMsMax = 15_000
/** Limit for the end of jobs that were accepted while the leader was cut off. */
const doneMsMax = 60_000
const jobsPerRound = 20
const faultMs = { min: 200, max: 30_000 }

const submission = `mutation { submitJob(input: { spec: { command: ["true"], resources: { cpu: 0.1, memoryBytes: 16777216 } } }) {
  ... on SubmitJobSuccess { job { id } } ... on Problem { code } } }`

/** Submits a job. Returns its id; null: refused for now. Every response must be in time. */
async function submit(url: string): Promise<string | null> {
  const beganMs = performance.now()
  const answer = await ask(url, submission)
  const ms = performance.now() - beganMs
  assert.ok(ms < scaleByLoad(answerMsMax), `an answer took ${Math.round(ms)} ms`)
  const id: string | undefined = answer.data?.['submitJob']?.job?.id
  if (id === undefined) assert.match(JSON.stringify(answer), /UNAVAILABLE/)
  return id ?? null
}

const stateOf = async (url: string, id: string) =>
  (await ask(url, `{ job(id: "${id}") { state } }`)).data?.['job']?.state as string | undefined

/** Expects that a job submitted to any of the servers from now on ends in time. */
async function demandWork(urls: readonly string[]): Promise<number> {
  const beganMs = performance.now()
  for (const url of urls) {
    const timeoutMs = scaleByLoad(goesOnMsMax) - (performance.now() - beganMs)
    const id = await until(() => submit(url), { what: 'a job is taken', timeoutMs })
    await until(async () => (await stateOf(url, id)) === 'SUCCEEDED', { what: `${id} has ended`, timeoutMs })
  }
  return performance.now() - beganMs
}

async function withDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return work(client).finally(() => client.end())
}

async function demandAllDone(databaseUrl: string): Promise<void> {
  await withDatabase(databaseUrl, async (client) => {
    const open = async () =>
      (await client.query("SELECT id, state FROM job WHERE state NOT IN ('SUCCEEDED', 'FAILED', 'CANCELLED')")).rows
    await until(async () => (await open()).length === 0, {
      what: 'all jobs have ended',
      timeoutMs: scaleByLoad(doneMsMax),
    })
    assert.deepEqual(await findViolations(pgSql(client)), [])
  })
}

/** The leader is cut off in every way that a network has, while another server accepts jobs. */
async function cutNetwork({ seed, seconds, log }: Context): Promise<void> {
  const random = new Random(seed)
  const endMs = performance.now() + seconds * 1_000
  let slowest = 0
  let rounds = 0
  await withDirectory(async (directory) => {
    const postgres = await startPostgres({
      dataDir: directory,
      log: createLog('error'),
      clock: systemClock,
      durable: false,
    })
    const door = await createDoor(postgres.url)
    const servers: BerthProcess[] = []
    try {
      servers.push(await startAt(directory, 'leader', { DATABASE_URL: door.url }))
      servers.push(await startAt(directory, 'api', { DATABASE_URL: postgres.url, BERTH_ROLES: 'api' }))
      const urls = servers.map(({ url }) => url)
      for (; rounds === 0 || performance.now() < endMs; rounds++) {
        const ms = Math.min(random.between(faultMs.min, faultMs.max), Math.max(faultMs.min, endMs - performance.now()))
        const harm = random.of(harms)
        await harm.begin(door)
        const [near = '', direct = ''] = urls
        await Promise.all([sleep(ms), submit(near), ...Array.from({ length: jobsPerRound }, () => submit(direct))])
        await harm.end?.(door)
        slowest = Math.max(slowest, await demandWork(urls))
        await demandAllDone(postgres.url)
      }
    } finally {
      door.thaw()
      for (const server of servers) await server.end()
      await door.shut()
      await postgres.stop()
    }
  })
  log(`${rounds} cuts; work went on within ${Math.round(slowest)} ms`)
}

interface Harm {
  begin(door: Door): void | Promise<void>
  end?(door: Door): void | Promise<void>
}

const harms: readonly [Harm, ...Harm[]] = [
  { begin: (door) => door.freeze(), end: (door) => door.thaw() },
  { begin: (door) => door.strand() },
  { begin: (door) => door.reset() },
  { begin: (door) => door.slow(300), end: (door) => door.slow(0) },
  { begin: (door) => door.shut(), end: (door) => door.open() },
]

async function startAt(directory: string, name: string, env: Record<string, string>): Promise<BerthProcess> {
  const dataDir = join(directory, name)
  await mkdir(dataDir)
  return startBerthProcess({ dataDir, env })
}

// ── the embedded one ──

interface Embedded {
  server: BerthProcess
  postmaster(): Promise<number>
}

async function withEmbedded(work: (embedded: Embedded) => Promise<void>): Promise<void> {
  await withDirectory(async (directory) => {
    const server = await startBerthProcess({ dataDir: directory, port: await freePort() })
    const place = { home: join(directory, 'postgres'), bin: '', major: '18', account: null }
    const postmaster = async () => {
      const found = await until(() => findPostmaster(place), {
        what: 'PostgreSQL runs',
        timeoutMs: scaleByLoad(goesOnMsMax),
      })
      return found.pid
    }
    try {
      await work({ server, postmaster })
      assert.equal(await server.end(), 0, server.output())
    } catch (error) {
      throw new Error(`The server, which ended with ${await server.end()}, said:\n${server.output()}`, { cause: error })
    }
  })
}

/** Process ids of the server and its sessions. */
async function processesOf(postmaster: number): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  const parents = await Promise.all(
    pids.map((pid) =>
      readFile(`/proc/${pid}/stat`, 'latin1').then(
        (stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]),
        () => 0,
      ),
    ),
  )
  return [postmaster, ...pids.filter((_, index) => parents[index] === postmaster)]
}

function signal(pids: readonly number[], name: NodeJS.Signals) {
  for (const pid of pids)
    try {
      process.kill(pid, name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
}

async function freezePostgres({ seed, seconds, log }: Context): Promise<void> {
  const random = new Random(seed)
  const endMs = performance.now() + seconds * 1_000
  let slowest = 0
  let rounds = 0
  await withEmbedded(async ({ server, postmaster }) => {
    for (; rounds === 0 || performance.now() < endMs; rounds++) {
      const frozen = await processesOf(await postmaster())
      signal(frozen, 'SIGSTOP')
      const ready = fetch(`${server.url}/readyz`, { signal: AbortSignal.timeout(scaleByLoad(answerMsMax)) })
      await Promise.all([sleep(random.between(1_000, 20_000)), submit(server.url), submit(server.url), ready])
      signal(frozen, 'SIGCONT')
      slowest = Math.max(slowest, await demandWork([server.url]))
    }
  })
  log(`${rounds} times frozen; work went on within ${Math.round(slowest)} ms`)
}

/** A report that failed in the restart is repeated after a pause, so another job may end earlier. */
const succeeded = (url: string, id: string) =>
  until(async () => (await stateOf(url, id)) === 'SUCCEEDED', {
    what: `${id} succeeds`,
    timeoutMs: scaleByLoad(goesOnMsMax),
  })

async function restartPostgres({ seed, seconds, log }: Context): Promise<void> {
  const random = new Random(seed)
  const endMs = performance.now() + seconds * 1_000
  let slowest = 0
  let rounds = 0
  await withEmbedded(async ({ server, postmaster }) => {
    for (; rounds === 0 || performance.now() < endMs; rounds++) {
      const id = await submit(server.url)
      await sleep(random.between(0, 500))
      signal([await postmaster()], random.chance(0.5) ? 'SIGKILL' : 'SIGINT')
      slowest = Math.max(slowest, await demandWork([server.url]))
      if (id) await succeeded(server.url, id)
    }
  })
  log(`${rounds} restarts; work went on within ${Math.round(slowest)} ms`)
}
