import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UserLevel, Viewer } from '../../src/domain/access.ts'
import type { DeclaredNode, DeclaredPool } from '../../src/domain/machines/pools.ts'
import { findings } from '../../src/domain/selfcheck/selfcheck.ts'
import { createSimulatedExecutor } from '../../src/executors/simulated/simulated.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { createFakeClock } from './clock.ts'
import { startScheduler } from './leader.ts'
import { mutate, type Person, personWith } from './people.ts'
import { startServer } from './server.ts'
import { until } from './until.ts'

/**
 * A pool of the simulated executor behind the real API, with the real leader, for examples of scheduling. Time stands
 * still for runs, and the example moves it for all parts at once. With `pass` only `processQueue` makes a pass; with
 * `loop` the leader's own loop does, and the example never calls it.
 */
export type Mode = 'pass' | 'loop'

export interface ClusterOptions extends Partial<DeclaredPool> {
  mode: Mode
  graceMs?: number
  nodeLostAfterMs?: number
  /** The clock of runs; default: one that stands still until `advance`. With another clock `advance` is of no use. */
  clock?: Clock
}

export interface JobFacts {
  id: string
  state: string
  stateReason: string | null
  stateInfo: string | null
  exitCode: number | null
  priority: number
  createdAt: string
  queuePosition: number | null
  scheduling: {
    jobsAhead: number
    lastConsideredAt: string | null
    gates: { open: boolean }[]
    reasons: {
      code: string
      message: string
      jobId: string | null
      scope: string | null
      limit: number | null
      used: number | null
    }[]
    hold: { nodes: string[]; expectedAt: string | null } | null
    fit: { freeNow: boolean; couldEverFit: boolean; missing: string[] }
    estimatedStart: { earliest: string } | null
  } | null
  runs: {
    nodes: { number: number; state: string; gpuIds: number[]; nodes: string[]; preemptRequestedAt: string | null }[]
  }
}

export interface Ask {
  as?: string
  /** GPUs, cores and GiB of one copy. */
  gpu?: number
  cpu?: number
  mem?: number
  /** How long it runs; default: until the example ends it. */
  seconds?: number
  /** How long it ignores TERM. */
  stubborn?: number
  exit?: number
  /** preemptable; restartable. */
  pre?: boolean
  rst?: boolean
  resources?: Record<string, unknown>
  input?: Record<string, unknown>
  [field: string]: unknown
}

export interface Cluster extends AsyncDisposable {
  readonly admin: Person
  readonly dataDir: string
  person(name: string): Person
  user(name: string, level: UserLevel, allow?: readonly string[]): Promise<Viewer>
  /** Submits and returns the id; throws the refusal. */
  submit(ask?: Ask): Promise<string>
  /** The whole answer of submitJob. */
  answer(ask?: Ask): Promise<Record<string, unknown>>
  /** Waits until nothing moves without time. */
  settle(): Promise<void>
  /** Submits while the pool is paused, so that one pass sees all of them. */
  together(...asks: Ask[]): Promise<string[]>
  /** Moves time on for runs and the database, and settles. */
  advance(seconds: number): Promise<void>
  job(id: string): Promise<JobFacts>
  /** States in the order of `ids`. */
  states(...ids: string[]): Promise<string[]>
  /** The jobs among `ids` that hold resources. */
  holding(...ids: string[]): Promise<string[]>
  /** The first reason why it waits, once the leader has considered it. */
  why(id: string): Promise<NonNullable<JobFacts['scheduling']>['reasons'][number] | undefined>
  /** Its code. */
  reason(id: string): Promise<string | undefined>
  cancel(id: string): Promise<void>
  sql<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>
}

export const GiB = 1024 ** 3
const never = 1e9

export const v100 = { model: 'Tesla V100-SXM2-32GB', memoryGib: 32, tensorCores: true, cuda: ['9.0', '11.8'] }
export const p100 = { model: 'Tesla P100-PCIE-16GB', memoryGib: 16, tensorCores: false, cuda: ['8.0', '10.2'] }
export const h100 = { model: 'NVIDIA H100 80GB HBM3', memoryGib: 80, tensorCores: true, cuda: ['11.8', '12.8'] }

export function node(name: string, more: Partial<DeclaredNode> & { gpus?: (typeof v100)[] } = {}): DeclaredNode {
  const { gpus = [], ...rest } = more
  const devices = gpus.map((device, index) => ({ index, ...device }))
  return { name, cpuMillis: 16_000, memoryBytes: 64 * GiB, cpuModel: null, infiniband: false, devices, ...rest }
}

export const times = <T>(count: number, of: T): T[] => Array.from({ length: count }, () => of)

/** The fixtures of the specification. */
export const N8 = (name = 'n1') => node(name, { gpus: times(8, v100) })
export const N8x2 = () => [N8('n1'), N8('n2')]
export const CPU = () => node('c1')
export const MIX = () => [
  node('p100', { gpus: times(8, p100) }),
  node('v100', { gpus: times(8, v100) }),
  node('h100', { gpus: times(8, h100), infiniband: true }),
]

const wanted = `id state stateReason stateInfo exitCode priority createdAt queuePosition
  scheduling { jobsAhead lastConsideredAt gates { open } reasons { code message jobId scope limit used } hold { nodes expectedAt } fit { freeNow couldEverFit missing } estimatedStart { earliest } }
  runs(first: 10) { nodes { number state gpuIds nodes preemptRequestedAt } }`

const submitQuery = `mutation ($input: SubmitJobInput!) { submitJob(input: $input) { __typename
  ... on SubmitJobSuccess { job { id state } idempotentHit warnings }
  ... on DryRun { wouldBe nodes gpuIds reasons { code message } warnings fit { freeNow couldEverFit missing } estimatedStart { earliest } }
  ... on Problem { code message } ... on InvalidInputProblem { violations { path message } }
  ... on RejectedProblem { reasons { code } } } }`

function inputOf({
  as: _,
  gpu,
  cpu,
  mem,
  seconds = never,
  stubborn = 0,
  exit = 0,
  pre,
  rst,
  resources,
  input,
  ...spec
}: Ask) {
  const environment = Object.entries({
    SIM_RUN_SECONDS: seconds,
    SIM_EXIT_CODE: exit,
    SIM_IGNORE_TERM_SECONDS: stubborn,
  })
  return {
    ...input,
    spec: {
      command: ['simulated'],
      environment: environment.map(([name, value]) => ({ name, value: String(value) })),
      resources: {
        ...(gpu !== undefined && { gpu }),
        ...(cpu !== undefined && { cpu }),
        ...(mem !== undefined && { memoryGib: mem }),
        ...resources,
      },
      ...(pre !== undefined && { preemptable: pre }),
      ...(rst !== undefined && { restartable: rst }),
      ...spec,
    },
  }
}

export async function startCluster({
  mode,
  graceMs = 30_000,
  nodeLostAfterMs = 60_000,
  clock,
  ...pool
}: ClusterOptions): Promise<Cluster> {
  const { scheduling = {} } = pool
  const server = await startServer({
    pool: { ...pool, scheduling: { ...scheduling, automatic: mode === 'loop' } },
    authenticate: (header, { users }) => users.get(header?.replace('Bearer ', '') ?? '') ?? null,
  })
  const { domain } = server
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-cluster-'))
  const runClock = createFakeClock(domain.time.nowMs())
  const moments = clock ? { clock, time: domain.time } : { clock: runClock, time: runClock }
  const executor = await createSimulatedExecutor({ dataDir, ...moments, log: domain.log })
  const scheduler = startScheduler(domain, { simulated: executor }, { graceMs, nodeLostAfterMs, jobUrl: server.url })
  await server.user('root', 'ADMIN')
  const admin = personWith(server.url, 'root')
  const sql = <Row = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    domain.db.sql.query<Row & object>(text, values) as Promise<Row[]>

  async function facts(ids: readonly string[]): Promise<JobFacts[]> {
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Job { ${wanted} } } }`
    return (await admin.data(query, { ids }))['nodes'] as unknown as JobFacts[]
  }

  /** The job after the leader has published what it knows. The leader does not consider jobs with a closed gate. */
  const shown = (id: string) =>
    until(
      async () => {
        const jobs = await facts([id])
        const { scheduling } = jobs[0] ?? {}
        return (!scheduling || scheduling.lastConsideredAt || scheduling.gates.some(({ open }) => !open)) && jobs
      },
      { what: `the leader has looked at ${id}` },
    )

  async function answer(ask: Ask = {}) {
    const person = ask.as === undefined ? admin : personWith(server.url, ask.as)
    return (await person.data(submitQuery, { input: inputOf(ask) }))['submitJob'] as unknown as Record<string, unknown>
  }

  async function submit(ask?: Ask): Promise<string> {
    const result = await answer(ask)
    if (result['__typename'] !== 'SubmitJobSuccess') throw new Error(JSON.stringify(result))
    return (result['job'] as { id: string }).id
  }

  /** The leader answers after it has heard everything that was committed before. */
  async function barrier(): Promise<boolean> {
    if (mode === 'loop') {
      const { message } = await answer({ input: { dryRun: true } })
      if (message) throw new Error(`The leader does not answer: ${message}`)
      return false
    }
    const { processQueue } = await admin.data('mutation { processQueue { started preempted } }')
    const { started, preempted } = processQueue as unknown as { started: number; preempted: number }
    return started + preempted > 0
  }

  /** The executor knows an end that the leader has not stored yet. */
  async function hasUnreportedEnd(): Promise<boolean> {
    const held = await sql<{ handle: string }>(
      "SELECT handle FROM run WHERE state IN ('STARTING', 'RUNNING', 'CANCELLING') AND handle IS NOT NULL",
    )
    const observations = await executor.inspect(held.map(({ handle }) => handle))
    return observations.some(({ state }) => state === 'ended')
  }

  /** What moves without time: starts that are not confirmed, and requested ends of runs that obey. */
  const underWay = async () => {
    const [row] = await sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM run r JOIN job j ON j.id = r.job_id
       WHERE r.state = 'STARTING' OR (r.state = 'CANCELLING' OR r.state = 'RUNNING' AND r.preempt_requested_at IS NOT NULL)
         AND NOT EXISTS (SELECT FROM jsonb_array_elements(j.spec->'environment') e
           WHERE e->>'name' = 'SIM_IGNORE_TERM_SECONDS' AND (e->>'value')::float8 > 0)`,
    )
    return (row?.n ?? 0) > 0 || (await hasUnreportedEnd())
  }
  const progress = async () => JSON.stringify(await sql('SELECT sum(version) AS v, count(*) AS n FROM job'))

  async function settle() {
    for (let before = ''; ; ) {
      const moved = await barrier()
      await until(async () => !(await underWay()), { what: 'runs are where they go' })
      const now = await progress()
      if (now === before && !moved) return
      before = now
    }
  }

  return {
    admin,
    dataDir,
    person: (name) => personWith(server.url, name),
    user: (name, level, allow) => server.user(name, level, allow),
    answer,
    submit,
    settle,
    async together(...asks) {
      const limit = (maxConcurrent: number | null) =>
        mutate(admin, 'updateLimits', { input: { maxConcurrent }, wanted: 'limits { maxConcurrent }' })
      await limit(0)
      const ids: string[] = []
      for (const ask of asks) ids.push(await submit(ask))
      await settle()
      await limit(null)
      await settle()
      return ids
    },
    async advance(seconds) {
      await server.moveTime(seconds * 1000)
      // The moved time must not make the leader look silent, also while a renewal is under way.
      await domain.db.transaction(async (tx) => {
        await tx.query('LOCK TABLE scheduler_lease IN SHARE ROW EXCLUSIVE MODE')
        await tx.query('UPDATE scheduler_lease SET renewed_at = berth_now()')
      })
      await runClock.advance(seconds * 1000)
      await settle()
    },
    async job(id) {
      const [job] = await facts([id])
      if (!job) throw new Error(`No job ${id}`)
      return job
    },
    states: async (...ids) => (await facts(ids)).map(({ state }) => state),
    holding: async (...ids) =>
      (await facts(ids))
        .filter(({ state }) => ['STARTING', 'RUNNING', 'CANCELLING'].includes(state))
        .map(({ id }) => id),
    why: async (id) => (await shown(id))[0]?.scheduling?.reasons[0],
    reason: async (id) => (await shown(id))[0]?.scheduling?.reasons[0]?.code,
    async cancel(id) {
      await admin.data('mutation ($input: CancelJobInput!) { cancelJob(input: $input) { __typename } }', {
        input: { jobId: id },
      })
    },
    sql,
    async [Symbol.asyncDispose]() {
      const broken = await findings(domain.db.sql)
      await scheduler.stop()
      await executor.close()
      await server[Symbol.asyncDispose]()
      await rm(dataDir, { recursive: true, force: true })
      if (broken.length > 0) throw new Error(`The self-check found ${JSON.stringify(broken)}`)
    },
  }
}
