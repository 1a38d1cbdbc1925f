import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { Random } from '../../simulate/random.ts'
import { openConnection } from '../../src/client/connection/connection.ts'
import { TypedDocumentString } from '../../src/client/generated/graphql.ts'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { startPostgres } from '../../src/platform/postgres/postgres.ts'
import { pgSql } from '../../src/platform/tx.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { createFakedClock, type FakedClock } from '../support/faked-clock.ts'
import { mutate, type Person, personWith } from '../support/people.ts'
import { until } from '../support/until.ts'
import { openConnections } from './connections.ts'
import { withDirectory } from './directory.ts'
import { type Scenario, Skipped, scaleByLoad } from './scenario.ts'

/** A server whose wall clock is wrong, drifts and jumps, over a database with the correct time. */
export const clocks: readonly Scenario[] = [{ name: 'wrong-clocks', run: fakeClocks }]

type Context = Parameters<Scenario['run']>[0]

const graceSeconds = 2
const limitSeconds = 3
/** Maximum delay of a stop that is due, and of a KILL. */
const lateMsMax = 1_000
/** Maximum time from the readiness of a new server until it has adopted the runs of the previous one. */
const adoptionMsMax = 5_000
/** The server knows the time of the database to within half of the shortest round trip. */
const toleranceMs = 500
/** Heartbeats are in whole seconds. */
const wholeSecondMs = 1_000
const nodeSilentMsMax = 30_000
const roundMsMax = 60_000
/** Maximum time of a round until the clock jumps or the server is killed, which also happens when the jobs are over. */
const harmMsMax = 6_000
const killChance = 0.4
const shortTokenMs = 3_000
const longTokenMs = 600_000
const secret = 'a-secret-of-this-scenario'

const configuration = `
pools:
  - name: local
    executors: [local]
    jobsAsRoot: true
    nodes: [{ name: n1, cpu: 16, memoryGib: 16 }]
    scheduling: { graceSeconds: ${graceSeconds} }
queues: [{ name: default, pool: local }]
`

/** The view of users whose clocks are correct. */
interface Stage {
  random: Random
  clock: FakedClock
  database: pg.Pool
  server: BerthProcess
  start(): Promise<BerthProcess>
  counts: { rounds: number; jumps: number; kills: number; heartbeats: number }
}

async function fakeClocks({ seed, seconds, log }: Context): Promise<void> {
  await withDirectory(async (directory) => {
    const clock = await createFakedClock(directory)
    if (!clock) throw new Skipped('libfaketime does not work here: install the package faketime')
    const random = new Random(seed)
    await using opened = new AsyncDisposableStack()
    const options = { dataDir: directory, log: createLog('error'), clock: systemClock, durable: false }
    const { url } = opened.adopt(await startPostgres(options), (postgres) => postgres.stop())
    const database = opened.adopt(openConnections(url, 10), (pool) => pool.end())
    await clock.set(wrongBy(random))
    const start = await serverOf(directory, { DATABASE_URL: url, ...clock.environment })
    const counts = { rounds: 0, jumps: 0, kills: 0, heartbeats: 0 }
    const stage: Stage = { random, clock, database, start, counts, server: await start() }
    opened.defer(async () => void (await end(stage)))
    await playRounds(stage, seconds)
    log(
      Object.entries(counts)
        .map(([what, count]) => `${count} ${what}`)
        .join(', '),
    )
  })
}

/** Starts one, at the same address each time. */
async function serverOf(dataDir: string, environment: Record<string, string>): Promise<() => Promise<BerthProcess>> {
  const file = join(dataDir, 'berth.yaml')
  await writeFile(file, configuration)
  const env = { ...environment, BERTH_CONFIG: file, BERTH_BOOTSTRAP_TOKEN: secret }
  const port = await freePort()
  return () => startBerthProcess({ dataDir, port, env })
}

async function end({ server, clock }: Stage, signal?: NodeJS.Signals): Promise<number | null> {
  const code = await server.end(signal)
  await clock.forget(server.pid)
  return code
}

async function playRounds(stage: Stage, seconds: number): Promise<void> {
  const endMs = performance.now() + seconds * 1_000
  const heartbeats = followHeartbeats(stage)
  try {
    for (; stage.counts.rounds === 0 || performance.now() < endMs; stage.counts.rounds++) await playRound(stage)
    assert.deepEqual(await findViolations(pgSql(stage.database)), [])
    assert.equal(await end(stage), 0, stage.server.output())
  } finally {
    await heartbeats.close()
  }
  for (const { at, now } of heartbeats.seen) assertNear(at, now - wholeSecondMs, now, 'a heartbeat of a stream')
  stage.counts.heartbeats = heartbeats.seen.length
}

function wrongBy(random: Random) {
  const hour = 3_600
  const offsetSeconds = random.of([60, 2 * hour, 24 * hour, 365 * 24 * hour]) * random.of([1, -1])
  return { offsetSeconds, rate: random.of([1, 1, 2, 10]) }
}

async function nowMs(database: pg.Pool): Promise<number> {
  const { rows } = await database.query<{ now: Date }>('SELECT berth_now() AS now')
  return rows[0]?.now.getTime() ?? Number.NaN
}

function assertNear(at: number, fromMs: number, toMs: number, what: string): void {
  const [early, late] = [Math.round(fromMs - at), Math.round(at - toMs)]
  assert.ok(
    early <= scaleByLoad(toleranceMs) && late <= scaleByLoad(toleranceMs),
    `${what} is ${Math.max(early, late)} ms off`,
  )
}

// ── one round ──

async function playRound(stage: Stage): Promise<void> {
  const { random, clock, database } = stage
  await clock.set(wrongBy(random))
  const beganMs = await nowMs(database)
  const person = personWith(stage.server.url, secret)
  const tokens = [await createToken(person, beganMs + shortTokenMs), await createToken(person, beganMs + longTokenMs)]
  const jobs = await Promise.all([healthy(random), obedient, deaf].map((job) => submit(stage, job)))
  const [restartedMs] = await Promise.all([disturb(stage), ...jobs.map(({ id }) => awaitEnd(database, id))])
  const endedMs = await nowMs(database)
  for (const job of jobs) await demandTruth(stage, job, { restartedMs, endedMs })
  const welcome = await Promise.all(tokens.map((token) => isWelcome(stage, token)))
  assert.deepEqual(welcome, [false, true], 'a token that has expired, and one that has not')
  await demandNodeSeen(stage)
}

interface Wanted {
  script: string
  maxRunTimeSeconds: number
  /** Maximum time from its start to its end; null: it is not ended. */
  longestMs: number | null
}

/** Jobs print their environment, and the time at several points. */
const moment = 'date +%s%3N'
const healthy = (random: Random): Wanted => ({
  script: `env; ${moment}; sleep ${random.between(0, 4)}; ${moment}`,
  maxRunTimeSeconds: 60,
  longestMs: null,
})
const obedient: Wanted = {
  script: `env; ${moment}; trap '${moment}; exit 1' TERM; sleep 600 & wait`,
  maxRunTimeSeconds: limitSeconds,
  longestMs: limitSeconds * 1_000,
}
const deaf: Wanted = {
  script: `env; ${moment}; trap '' TERM; sleep 600`,
  maxRunTimeSeconds: limitSeconds,
  longestMs: (limitSeconds + graceSeconds) * 1_000,
}

interface Submitted extends Wanted {
  id: string
  /** Time of the submission, by the clock of the database. */
  fromMs: number
  toMs: number
}

async function submit({ server, database }: Stage, wanted: Wanted): Promise<Submitted> {
  const { script, maxRunTimeSeconds } = wanted
  const spec = { command: ['/bin/sh', '-c', script], maxRunTimeSeconds, resources: { cpu: 0.1, memoryBytes: 2 ** 24 } }
  const fromMs = await nowMs(database)
  const answer = await mutate(personWith(server.url, secret), 'submitJob', { input: { spec }, wanted: 'job { id }' })
  assert.ok(answer.job, JSON.stringify(answer))
  return { ...wanted, id: answer.job.id, fromMs, toMs: await nowMs(database) }
}

/**
 * Sets the clock again and again, or kills the server and starts one with another clock. Returns the time at which the
 * new server was ready.
 */
async function disturb(stage: Stage): Promise<number | null> {
  const { random, clock, database, counts } = stage
  await sleep(random.between(0, harmMsMax))
  if (random.chance(killChance)) {
    counts.kills++
    await end(stage, 'SIGKILL')
    await clock.set(wrongBy(random))
    stage.server = await stage.start()
    return nowMs(database)
  }
  for (let jumps = random.between(0, 3); jumps > 0; jumps--, counts.jumps++) {
    await clock.set(wrongBy(random))
    await sleep(random.between(0, harmMsMax / 3))
  }
  return null
}

const awaitEnd = (database: pg.Pool, id: string) =>
  until(
    async () =>
      (await database.query('SELECT FROM job WHERE id = $1 AND finished_at IS NOT NULL', [id])).rowCount === 1,
    { what: `${id} has ended`, timeoutMs: scaleByLoad(roundMsMax) },
  )

// ── reported times ──

interface Told {
  state: string
  stateReason: string | null
  createdAt: string
  startedAt: string
  finishedAt: string
  runs: { nodes: { number: number }[] }
  events: { nodes: { at: string }[] }
  logs: { text: string }
}

const telling = `query ($id: ID!) { job(id: $id) { state stateReason createdAt startedAt finishedAt
  runs(first: 9) { nodes { number } } events(first: 99) { nodes { at } } logs(first: 999) { text } } }`

interface Ending {
  /** Times by the clock of the database: a server was ready after a kill, and all jobs had ended. */
  restartedMs: number | null
  endedMs: number
}

async function demandTruth({ server }: Stage, job: Submitted, ending: Ending): Promise<void> {
  const { logs, ...told }: Told = (await personWith(server.url, secret).data(telling, { id: job.id }))['job']
  const moments = [...logs.text.matchAll(/^\d{13}$/gm)].map(Number)
  const context = `${job.id} ${JSON.stringify({ ...told, moments })}`
  const verdict = job.longestMs === null ? ['SUCCEEDED', null] : ['FAILED', 'MAX_RUN_TIME']
  assert.deepEqual([told.state, told.stateReason], verdict, context)
  assert.equal(told.runs.nodes.length, 1, context)
  assert.doesNotMatch(logs.text, /FAKETIME|LD_PRELOAD/, job.id)

  const [created = 0, started = 0, finished = 0] = [told.createdAt, told.startedAt, told.finishedAt].map(Date.parse)
  assertNear(created, job.fromMs, job.toMs, `createdAt of ${context}`)
  assertNear(started, created, moments[0] ?? Number.NaN, `startedAt of ${context}`)
  assertNear(finished, moments.at(-1) ?? Number.NaN, ending.endedMs, `finishedAt of ${context}`)
  const events = told.events.nodes.map(({ at }) => Date.parse(at))
  for (const at of events) assertNear(at, created, ending.endedMs, `an event of ${context}`)
  for (const times of [events, [created, started, finished]])
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
      context,
    )
  demandLimit(job, { started, finished, restartedMs: ending.restartedMs })
}

interface Ran {
  started: number
  finished: number
  restartedMs: number | null
}

/**
 * A server knows the time of the database to within half of the shortest round trip, and a duration of a run has two
 * such times.
 */
const clockErrorMs = 40

/** A limit that expires while no server runs takes effect when the next server has adopted the run. */
function demandLimit({ id, longestMs }: Submitted, { started, finished, restartedMs }: Ran): void {
  if (longestMs === null) return
  const limitMs = limitSeconds * 1_000
  const waitedMs = restartedMs === null ? 0 : Math.max(0, restartedMs + scaleByLoad(adoptionMsMax) - started - limitMs)
  const ranMs = finished - started
  const ranMsMax = longestMs + scaleByLoad(lateMsMax) + waitedMs
  const ranMsMin = limitMs - scaleByLoad(clockErrorMs)
  assert.ok(ranMs >= ranMsMin && ranMs <= ranMsMax, `${id} ran for ${ranMs} ms, not ${ranMsMin} to ${ranMsMax}`)
}

async function createToken(person: Person, expiresMs: number): Promise<string> {
  const input = { name: 'chaos', expiresAt: new Date(expiresMs).toISOString() }
  const answer = await mutate(person, 'createToken', { input, wanted: 'secret' })
  assert.ok(answer.secret, JSON.stringify(answer))
  return answer.secret
}

async function isWelcome({ server }: Stage, token: string): Promise<boolean> {
  const { status } = await personWith(server.url, token).ask('{ viewer { user { name } } }')
  return status === 200
}

async function demandNodeSeen({ server, database }: Stage): Promise<void> {
  const { pools } = await personWith(server.url, secret).data('{ pools { nodes { nodes { nodes { lastSeenAt } } } } }')
  const now = await nowMs(database)
  assertNear(Date.parse(pools.nodes[0].nodes.nodes[0].lastSeenAt), now - nodeSilentMsMax, now, 'lastSeenAt of the node')
}

const noJobs = new TypedDocumentString<{ jobUpdates: { at?: string } }, Record<string, never>>(
  'subscription { jobUpdates(filter: { name: "none" }) { ... on StreamHeartbeat { at } } }',
)

/** Uses a stream that outlives servers. */
function followHeartbeats({ server, database }: Stage) {
  const connection = openConnection({ url: server.url, token: secret })
  const seen: { at: number; now: number }[] = []
  const followed = (async () => {
    for await (const { jobUpdates } of connection.subscribe(noJobs, {}))
      if (jobUpdates.at !== undefined) seen.push({ at: Date.parse(jobUpdates.at), now: await nowMs(database) })
  })()
  followed.catch(() => undefined)
  return { seen, close: () => connection.close() }
}
