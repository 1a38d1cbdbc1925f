import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { mutate, type Person, personWith } from '../test/support/people.ts'
import { until } from '../test/support/until.ts'
import { type Contest, type Measured, mib, secret, submit } from './contest.ts'
import { type Delays, delaysDuring } from './delays.ts'
import { printLatencies, printLines } from './harness.ts'
import { countOpenFiles, cpuShare, residentBytes } from './process-usage.ts'
import { openSocket, type Subscribers, subscribeAll } from './subscribers.ts'

const perSocket = 100
const socketsPerPerson = 10
/** Less than twice the keep-alive interval, after which the server closes connections that do not read. */
const stalledMs = 10_000
const endedMsMax = 300_000
/** An idle backend of PostgreSQL reports its transactions up to 10 s after they ended. */
const toldMs = 11_000
const jobStatus = `subscription ($jobId: ID!) { jobStatus(jobId: $jobId) {
  ... on JobTransitions { job { id state version } transitions { seq to } cursor } } }`
const tail = 'subscription ($jobId: ID!) { tail(jobId: $jobId) { ... on LogBatch { text cursor } } }'

interface Contestant extends Measured {
  name: string
  /** null: the server has no database. */
  databaseUrl: string | null
  tokenOf?: (socket: number) => string
  tell(): Promise<unknown>
}

/**
 * Measures the cost of many idle subscribers, the time until a transition reaches them, and the cost of subscribers
 * that stopped reading.
 */
export async function measureSubscribers(contest: Contest): Promise<void> {
  const { berth, bare, databaseUrl, size } = contest
  const admin = personWith(berth.url, secret)
  const tokens = await Promise.all(Array.from({ length: size.sockets / socketsPerPerson }, (_, n) => addLead(admin, n)))
  const notBefore = new Date(Date.now() + 86_400_000).toISOString()
  const jobId = await submit(admin, { command: ['/bin/true'], notBefore })
  let priority = 0
  const tell = () => mutate(admin, 'setJobPriority', { input: { jobId, priority: ++priority }, wanted: 'job { id }' })
  const contestants: readonly Contestant[] = [
    { name: 'bare graphql-ws', ...bare, databaseUrl: null, tell: async () => bare.tell() },
    { name: 'berth', ...berth, databaseUrl, tell, tokenOf: (n) => tokens[Math.floor(n / socketsPerPerson)] ?? '' },
  ]
  const costs: string[][] = []
  const latencies: Record<string, number[]> = {}
  const fanOut: string[][] = []
  for (const contestant of contestants) {
    const { name } = contestant
    const without = await idleCost(contestant, size.idleSeconds)
    const subscribers = await subscribeAll({
      ...contestant,
      ...size,
      perSocket,
      payload: { query: jobStatus, variables: { jobId } },
    })
    const idle = await idleCost(contestant, size.idleSeconds)
    const each = (idle.bytes - without.bytes) / (size.sockets * perSocket)
    costs.push([name, ...costOf(without), ...costOf(idle), `${Math.round(each / 1_024)} KiB`])
    const told = await spread(contestant, subscribers, size.rounds)
    latencies[name] = told.tookMs
    fanOut.push([
      name,
      `${Math.round(told.perSecond)}/s`,
      `${told.late.p99.toFixed(1)} ms`,
      `${told.late.max.toFixed(1)} ms`,
    ])
    if (contestant.tokenOf) {
      const { bytes, areOpen, close } = await stall(contest, admin)
      const beside = await spread(contestant, subscribers, size.rounds)
      assert.ok(areOpen(), 'stalled readers were cut while the others were measured')
      latencies[`${name}, ${size.stalled} stalled readers of ${mib(bytes / size.stalled)} each`] = beside.tookMs
      close()
    }
    subscribers.close()
  }
  const cost = ['RSS', 'CPU', 'transactions', 'LISTEN']
  printLines(`${size.sockets * perSocket} idle jobStatus subscribers, ${size.sockets} sockets`, [
    ['', ...cost, ...cost.map((each) => `${each} with`), 'each'],
    ...costs,
  ])
  printLines('messages to all of them', [['', 'rate', 'event loop p99', 'max'], ...fanOut])
  printLatencies('one transition → all of them', latencies)
}

async function addLead(admin: Person, n: number): Promise<string> {
  const input = { name: `lead${n}`, level: 'LEAD' }
  const { user } = await mutate(admin, 'createUser', { input, wanted: 'user { id }' })
  const token = { name: 'bench', userId: user.id }
  return (await mutate(admin, 'createToken', { input: token, wanted: 'secret' })).secret
}

interface Cost {
  bytes: number
  cpu: number
  database: DatabaseCost | null
}

interface DatabaseCost {
  transactionsPerSecond: number
  listening: number
}

async function idleCost({ pid, databaseUrl }: Contestant, seconds: number): Promise<Cost> {
  let cpu = 0
  const idle = async () => {
    cpu = await cpuShare(pid, seconds)
  }
  const database = databaseUrl === null ? null : await databaseCost(databaseUrl, seconds, idle)
  if (!database) await idle()
  return { bytes: residentBytes(pid), cpu, database }
}

async function databaseCost(url: string, seconds: number, idle: () => Promise<void>): Promise<DatabaseCost> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await pause(toldMs)
  const look = async () => (await client.query<{ transactions: string; listening: number }>(databaseSql)).rows[0]
  const before = await look()
  await idle()
  const after = await look()
  await client.end()
  return {
    transactionsPerSecond: (Number(after?.transactions) - Number(before?.transactions)) / seconds,
    listening: after?.listening ?? 0,
  }
}

const databaseSql = `
SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS transactions,
  (SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'berth wakeup') AS listening`

const costOf = ({ bytes, cpu, database }: Cost) => [
  mib(bytes),
  `${(cpu * 100).toFixed(1)} %`,
  database ? `${database.transactionsPerSecond.toFixed(1)}/s` : '-',
  database ? String(database.listening) : '-',
]

interface Spread {
  tookMs: number[]
  perSecond: number
  late: Delays
}

async function spread({ pid, delays, tell }: Contestant, subscribers: Subscribers, rounds: number): Promise<Spread> {
  const tookMs: number[] = []
  const began = performance.now()
  const late = await delaysDuring(pid, delays, async () => {
    for (let round = 0; round < rounds; round++) tookMs.push(...(await subscribers.spread(tell)))
  })
  return { tookMs, perSecond: (tookMs.length * 1_000) / (performance.now() - began), late }
}

/** Subscribers of a long log that never read. */
interface Stalled {
  /** The cost of all these subscribers together. */
  bytes: number
  /**
   * Whether the connections are open, judged by the open files of the server: a client socket that never reads does not
   * notice that it was closed.
   */
  areOpen(): boolean
  close(): void
}

async function stall({ berth, file, size }: Contest, admin: Person): Promise<Stalled> {
  const jobId = await submit(admin, { command: ['/bin/cat', file] })
  await ended(admin, jobId)
  const before = residentBytes(berth.pid)
  const sockets = await Promise.all(Array.from({ length: size.stalled }, () => openSocket(berth.url, secret)))
  for (const socket of sockets) {
    socket.pause()
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: tail, variables: { jobId } } }))
  }
  const files = countOpenFiles(berth.pid)
  await pause(stalledMs)
  const bytes = residentBytes(berth.pid) - before
  return {
    bytes,
    // Compares with half of the subscribers, because the number of database connections varies as well.
    areOpen: () => countOpenFiles(berth.pid) > files - size.stalled / 2,
    close: () => sockets.forEach((socket) => void socket.terminate()),
  }
}

async function ended(admin: Person, jobId: string): Promise<void> {
  const finished = async () =>
    (await admin.data('query ($jobId: ID!) { job(id: $jobId) { finishedAt } }', { jobId }))['job'].finishedAt
  await until(finished, { what: 'the job has ended', timeoutMs: endedMsMax })
}
