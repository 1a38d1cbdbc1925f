import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../simulate/random.ts'
import { advancing } from '../../src/client/connection/resume.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { startPostgres } from '../../src/platform/postgres/postgres.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { ask, data, streamSocket, streamSse } from '../support/client.ts'
import { withDirectory } from './directory.ts'
import { type Scenario, scaleByLoad } from './scenario.ts'

/**
 * A reader of `jobUpdates` is cut repeatedly and continues over another transport or on another server. Its servers are
 * killed, while writers change, cancel and delete jobs. It gets the events 1, 2, 3 … of every job, and each deletion
 * once.
 */
export const streams: readonly Scenario[] = [
  {
    name: 'hopping-reader',
    run: (context) => withDirectory((directory) => playIn(directory, context)),
  },
]

type Context = Parameters<Scenario['run']>[0]

const servers = 2
const writers = 8
const killOneIn = 12
const hopMs = { min: 20, max: 400 }
const catchUpMs = 60_000

const query = `subscription ($after: Cursor) { jobUpdates(after: $after) { __typename
  ... on JobTransitions { job { id version } transitions { seq } cursor }
  ... on StreamReset { resetReason jobIds cursor } ... on StreamHeartbeat { cursor } } }`

async function playIn(directory: string, context: Context): Promise<void> {
  const postgres = await startPostgres({ dataDir: directory, log: createLog('error'), clock: systemClock })
  try {
    await hop({ databaseUrl: postgres.url, directory, ...context })
  } finally {
    await postgres.stop()
  }
}

export interface Hop extends Context {
  /** An empty database, or one whose jobs are all final. */
  databaseUrl: string
  /** An empty folder. */
  directory: string
}

export async function hop({ databaseUrl, directory, seed, seconds, log }: Hop): Promise<void> {
  const random = new Random(seed)
  const config = join(directory, 'berth.yaml')
  await writeFile(config, 'pools: [{ name: sim, executor: simulated, nodes: [{ name: n1, cpu: 1, memoryGib: 1 }] }]\n')
  const env = { DATABASE_URL: databaseUrl, BERTH_CONFIG: config, BERTH_ROLES: 'api' }
  const start = async () => startBerthProcess({ dataDir: directory, env })
  const running: BerthProcess[] = []
  try {
    for (let n = 0; n < servers; n++) running.push(await start())
    const urlOf = () => running[random.between(0, servers - 1)]?.url ?? ''
    const truth = createTruth()
    const { jobs } = await data(urlOf(), '{ jobs(first: 1) { asOf } }')
    const reader = createReader(jobs.asOf)
    const end = performance.now() + seconds * 1_000
    const writing = Promise.all(
      Array.from({ length: writers }, (_, n) => write(new Random(seed + n), urlOf, { truth, end })),
    )
    let hops = 0
    for (; performance.now() < end; hops++) {
      const ms = random.between(hopMs.min, hopMs.max)
      if (hops % killOneIn === killOneIn - 1) await replace(running, random.between(0, servers - 1), start)
      else await reader.read(random.of(['sse', 'socket']), urlOf(), ms)
    }
    await writing
    const wanted = await truthOf(running[0]?.url ?? '', truth)
    const late = performance.now() + scaleByLoad(catchUpMs)
    while (!reader.has(wanted) && performance.now() < late) await reader.read('sse', urlOf(), 1_000)
    reader.demand(wanted)
    const events = [...wanted.versions.values()].reduce((sum, version) => sum + version, 0)
    log(`${hops} hops, ${wanted.versions.size} jobs with ${events} events, ${wanted.deleted.size} deletions: exact`)
  } finally {
    await Promise.all(running.map((server) => server.end('SIGKILL')))
  }
}

async function replace(running: BerthProcess[], index: number, start: () => Promise<BerthProcess>): Promise<void> {
  await running[index]?.end('SIGKILL')
  running[index] = await start()
}

interface Truth {
  ids: Set<string>
  deleted: Set<string>
}
const createTruth = (): Truth => ({ ids: new Set(), deleted: new Set() })

/** Responses may be lost with their server, so the expected events are read from the database at the end. */
async function write(
  random: Random,
  urlOf: () => string,
  { truth, end }: { truth: Truth; end: number },
): Promise<void> {
  const own: string[] = []
  while (performance.now() < end) {
    const jobId = random.pick(own)
    const choice = random.between(0, 9)
    try {
      if (jobId === undefined || choice === 0) {
        const { submitJob } = await data(
          urlOf(),
          'mutation { submitJob(input: { spec: { command: ["true"] } }) { ... on SubmitJobSuccess { job { id } } } }',
        )
        own.push(submitJob.job.id)
        truth.ids.add(submitJob.job.id)
      } else if (choice === 1) {
        own.splice(own.indexOf(jobId), 1)
        await mutation(urlOf(), 'cancelJob', `jobId: "${jobId}"`)
        await mutation(urlOf(), 'deleteJob', `jobId: "${jobId}"`)
      } else await mutation(urlOf(), 'setJobPriority', `jobId: "${jobId}", priority: ${random.between(0, 50)}`)
    } catch {
      await sleep(50) // its server is being killed
    }
  }
}

const mutation = (url: string, name: string, input: string) =>
  ask(url, `mutation { ${name}(input: { ${input} }) { __typename } }`)

interface Wanted {
  versions: Map<string, number>
  deleted: ReadonlySet<string>
}

async function truthOf(url: string, { ids }: Truth): Promise<Wanted> {
  const versions = new Map<string, number>()
  const deleted = new Set<string>()
  for (const id of ids) {
    const { job } = await data(url, 'query ($id: ID!) { job(id: $id) { version } }', { id })
    if (job) versions.set(id, job.version)
    else deleted.add(id)
  }
  return { versions, deleted }
}

function createReader(after: string) {
  const moving = advancing({ after })
  const seqs = new Map<string, number[]>()
  const deletions: string[] = []
  const faults: string[] = []

  function take(message: { job?: { id: string }; transitions?: { seq: number }[]; jobIds?: string[] }) {
    const { job, transitions = [], jobIds = [] } = message
    if (job) seqs.set(job.id, [...(seqs.get(job.id) ?? []), ...transitions.map(({ seq }) => seq)])
    deletions.push(...jobIds)
  }

  return {
    async read(transport: 'sse' | 'socket', url: string, ms: number) {
      const stream = (transport === 'sse' ? streamSse : streamSocket)(url, query, { ...moving.variables })
      // Repeats the cut, because the stream may not be open at first.
      const timer = setInterval(() => stream.cut(), ms)
      try {
        for (let next = await stream.next(); next.value; next = await stream.next()) {
          if (!next.value.data) return void faults.push(JSON.stringify(next.value))
          moving.advance(next.value.data)
          take(next.value.data['jobUpdates'])
        }
      } catch {
        // The stream was cut, or the server is gone.
      } finally {
        clearInterval(timer)
        stream.cut()
      }
    },
    has: ({ versions, deleted }: Wanted) =>
      [...versions].every(([id, version]) => seqs.get(id)?.at(-1) === version) &&
      [...deleted].every((id) => deletions.includes(id)),
    demand({ versions, deleted }: Wanted) {
      assert.deepEqual(faults, [])
      for (const [id, version] of versions)
        assert.deepEqual(
          seqs.get(id),
          Array.from({ length: version }, (_, i) => i + 1),
          id,
        )
      for (const id of deleted) {
        const got = seqs.get(id) ?? []
        assert.deepEqual(
          got,
          got.map((_, i) => i + 1),
          id,
        )
      }
      assert.deepEqual(deletions.toSorted(), [...deleted].sort())
    },
  }
}
