import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UserLevel, Viewer } from '../../src/domain/access.ts'
import type { DeclaredNode, DeclaredPool } from '../../src/domain/machines/pools.ts'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { createSimulatedExecutor } from '../../src/executors/simulated/simulated.ts'
import type { Clock } from '../../src/platform/clock.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { createFakeClock } from './clock.ts'
import { startScheduler } from './leader.ts'
import { mutate, type Person, personWith } from './people.ts'
import { startServer, type TestServer } from './server.ts'
import { until } from './until.ts'
import { isWhole } from './whole.ts'

/**
 * A pool of the simulated executor behind the real API, with the real leader, for scheduling examples. The clocks of
 * all parts stand still until the example advances them together. With `pass`, only `planPools` makes a pass; with
 * `loop`, the leader makes passes by itself.
 */
export type Mode = 'pass' | 'loop'

/** `npm run test:whole` runs the examples in both modes, `npm test` only in this one. */
export const chooseModes = (mode: Mode): Mode[] => (isWhole ? ['pass', 'loop'] : [mode])

export interface ClusterOptions extends Partial<DeclaredPool> {
  mode: Mode
  graceMs?: number
  nodeLostAfterMs?: number
  /** The clock of runs; default: a clock that only `advance` moves. `advance` does not move another clock. */
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
  position: number | null
  scheduling: {
    jobsAhead: number
    lastConsideredAt: string | null
    gates: { open: boolean }[]
    reasons: {
      code: string
      message: string
      job: { id: string } | null
      scope: string | null
      limit: number | null
      used: number | null
    }[]
    hold: { nodes: { name: string }[]; expectedAt: string | null } | null
    fit: { freeNow: boolean; couldEverFit: boolean; missing: string[] }
    estimatedStart: { earliest: string } | null
  } | null
  runs: {
    nodes: { number: number; state: string; gpuIds: number[]; nodeNames: string[]; preemptRequestedAt: string | null }[]
  }
}

export interface Ask {
  as?: string
  /** GPUs, cores and GiB of one copy. */
  gpu?: number
  cpu?: number
  mem?: number
  /** Run time; default: until the example ends the job. */
  seconds?: number
  /** Time in seconds for which the job ignores TERM. */
  stubborn?: number
  exit?: number
  /** preemptable; restartable. */
  pre?: boolean
  rst?: boolean
  resources?: Record<string, unknown>
  input?: Record<string, unknown>
  [field: string]: unknown
}

type Answer = Record<string, unknown>

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

const wanted = `id state stateReason stateInfo exitCode priority createdAt position
  scheduling { jobsAhead lastConsideredAt gates { open } reasons { code message job { id } scope { kind name } limit used } hold { nodes { name } expectedAt } fit { freeNow couldEverFit missing } estimatedStart { earliest } }
  runs(first: 10) { nodes { number state gpuIds nodeNames preemptRequestedAt } }`

const problems = `... on Problem { code message } ... on InvalidInputProblem { violations { path message } }
  ... on RejectedProblem { reasons { code } }`

const submitQuery = `mutation ($input: SubmitJobInput!) { submitJob(input: $input) { __typename
  ... on SubmitJobSuccess { job { id state } idempotentHit warnings } ${problems} } }`

const previewQuery = `query ($input: PreviewJobInput!) { previewJob(input: $input) { __typename
  ... on JobPreview { wouldBe nodeNames gpuIds reasons { code message } warnings fit { freeNow couldEverFit missing } estimatedStart { earliest }
    preempts { id } preemptedCount }
  ${problems} } }`

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
  return new Cluster({ mode, server, dataDir, runClock, executor, scheduler })
}

interface ClusterParts {
  mode: Mode
  server: TestServer
  dataDir: string
  runClock: ReturnType<typeof createFakeClock>
  executor: Executor
  scheduler: Scheduler
}

export class Cluster implements AsyncDisposable {
  readonly admin: Person
  readonly dataDir: string
  readonly #parts: ClusterParts

  constructor(parts: ClusterParts) {
    this.#parts = parts
    this.dataDir = parts.dataDir
    this.admin = this.person('root')
  }

  person(name: string): Person {
    return personWith(this.#parts.server.url, name)
  }

  user(name: string, level: UserLevel, allow?: readonly string[]): Promise<Viewer> {
    return this.#parts.server.user(name, level, allow)
  }

  sql<Row = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.#parts.server.domain.db.sql.query<Row & object>(text, values)
  }

  /** Returns the whole result of submitJob. */
  async answer(ask: Ask = {}): Promise<Answer> {
    return (await this.#as(ask).data(submitQuery, { input: inputOf(ask) }))['submitJob'] as Answer
  }

  /** Returns the whole result of previewJob. */
  async preview(ask: Ask = {}): Promise<Answer> {
    return (await this.#as(ask).data(previewQuery, { input: { submit: inputOf(ask) } }))['previewJob'] as Answer
  }

  /** Submits a job and returns its id; throws a refusal. */
  async submit(ask?: Ask): Promise<string> {
    const result = await this.answer(ask)
    if (result['__typename'] !== 'SubmitJobSuccess') throw new Error(JSON.stringify(result))
    return (result['job'] as { id: string }).id
  }

  /** Submits jobs while the pool is paused, so that one pass considers all of them. */
  async together(...asks: Ask[]): Promise<string[]> {
    const limit = (maxConcurrent: number | null) =>
      mutate(this.admin, 'updateLimits', { input: { maxConcurrent }, wanted: 'limits { maxConcurrent }' })
    await limit(0)
    const ids: string[] = []
    for (const ask of asks) ids.push(await this.submit(ask))
    await this.settle()
    await limit(null)
    await this.settle()
    return ids
  }

  /** Advances the time of runs and of the database, and settles. */
  async advance(seconds: number): Promise<void> {
    const { server, runClock } = this.#parts
    await server.moveTime(seconds * 1000)
    // Renews the lease, which would otherwise expire when the time is advanced, even during a renewal.
    await server.domain.db.transaction(async (tx) => {
      await tx.query('LOCK TABLE scheduler_lease IN SHARE ROW EXCLUSIVE MODE')
      await tx.query('UPDATE scheduler_lease SET renewed_at = berth_now()')
    })
    await runClock.advance(seconds * 1000)
    await this.settle()
  }

  /** Waits until no part can proceed without more time. */
  async settle(): Promise<void> {
    for (let before = ''; ; ) {
      const moved = await this.#passBarrier()
      await until(async () => !(await this.#isUnderWay()), { what: 'starts and requested ends are stored' })
      const now = JSON.stringify(await this.sql('SELECT sum(version) AS v, count(*) AS n FROM job'))
      if (now === before && !moved) return
      before = now
    }
  }

  async job(id: string): Promise<JobFacts> {
    const [job] = await this.#facts([id])
    if (!job) throw new Error(`No job ${id}`)
    return job
  }

  /** States in the order of `ids`. */
  async states(...ids: string[]): Promise<string[]> {
    return (await this.#facts(ids)).map(({ state }) => state)
  }

  /** Filters the jobs that hold resources. */
  async holding(...ids: string[]): Promise<string[]> {
    return (await this.#facts(ids))
      .filter(({ state }) => ['STARTING', 'RUNNING', 'CANCELLING'].includes(state))
      .map(({ id }) => id)
  }

  /**
   * Returns the first reason why the job waits, after the leader has published it. The leader does not consider jobs
   * with a closed gate.
   */
  async why(id: string): Promise<NonNullable<JobFacts['scheduling']>['reasons'][number] | undefined> {
    const jobs = await until(
      async () => {
        const jobs = await this.#facts([id])
        const { scheduling } = jobs[0] ?? {}
        return (!scheduling || scheduling.lastConsideredAt || scheduling.gates.some(({ open }) => !open)) && jobs
      },
      { what: `the leader has considered ${id}` },
    )
    return jobs[0]?.scheduling?.reasons[0]
  }

  async reason(id: string): Promise<string | undefined> {
    return (await this.why(id))?.code
  }

  async cancel(id: string): Promise<void> {
    await this.admin.data('mutation ($input: CancelJobInput!) { cancelJob(input: $input) { __typename } }', {
      input: { jobId: id },
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { server, scheduler, executor, dataDir } = this.#parts
    const broken = await findViolations(server.domain.db.sql)
    await scheduler.stop()
    await executor.close()
    await server[Symbol.asyncDispose]()
    await rm(dataDir, { recursive: true, force: true })
    if (broken.length > 0) throw new Error(`The self-check found ${JSON.stringify(broken)}`)
  }

  #as({ as }: Ask): Person {
    return as === undefined ? this.admin : this.person(as)
  }

  async #facts(ids: readonly string[]): Promise<JobFacts[]> {
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Job { ${wanted} } } }`
    return (await this.admin.data(query, { ids }))['nodes'] as unknown as JobFacts[]
  }

  /** Returns after the leader has processed all earlier commits. true: a pass started or preempted jobs. */
  async #passBarrier(): Promise<boolean> {
    if (this.#parts.mode === 'loop') {
      const { message, code } = await this.preview()
      // On a busy machine the leader answers late.
      if (code === 'UNAVAILABLE') return true
      if (message) throw new Error(`The leader refused the preview: ${message}`)
      return false
    }
    const { code, message, started, preempted } = await mutate(this.admin, 'planPools', {
      input: {},
      wanted: 'started preempted',
    })
    if (code) throw new Error(`The pass failed: ${message}`)
    return started + preempted > 0
  }

  /** Whether starts are in flight, runs that obey TERM have not ended, or the leader has not stored ends yet. */
  async #isUnderWay(): Promise<boolean> {
    const [row] = await this.sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM run r JOIN job j ON j.id = r.job_id
       WHERE r.state = 'STARTING' OR (r.state = 'CANCELLING' OR r.state = 'RUNNING' AND r.preempt_requested_at IS NOT NULL)
         AND NOT EXISTS (SELECT FROM jsonb_array_elements(j.spec->'environment') e
           WHERE e->>'name' = 'SIM_IGNORE_TERM_SECONDS' AND (e->>'value')::float8 > 0)`,
    )
    return (row?.n ?? 0) > 0 || (await this.#hasUnstoredEnd())
  }

  async #hasUnstoredEnd(): Promise<boolean> {
    const held = await this.sql<{ handle: string }>(
      "SELECT handle FROM run WHERE state IN ('STARTING', 'RUNNING', 'CANCELLING') AND handle IS NOT NULL",
    )
    const observations = await this.#parts.executor.inspect(held.map(({ handle }) => handle))
    return observations.some(({ state }) => state === 'ended')
  }
}
