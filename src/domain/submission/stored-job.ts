import { createBatcher } from '../../platform/batch.ts'
import { type Job, Prisma } from '../../platform/generated/client.ts'
import { basePriority, type Viewer } from '../access.ts'
import { type Domain, perDomain } from '../domain.ts'
import { toShape } from '../shape.ts'
import type { JobSpec } from '../spec.ts'

export interface Beginning {
  id: string
  viewer: Viewer
  pool: string
  spec: JobSpec
  teamId: string | null
  retryOf: string | null
  /** Maximum number of GPUs that the job may hold; null: the requested number. */
  gpuMost: number | null
}

export interface Inserted {
  id: string
  sequence: number
  createdMs: number
  eligibleMs: number
}

/** Computes the row of an inserted job, so that it need not be read. */
export function toStoredJob(job: Beginning, { sequence, createdMs, eligibleMs }: Inserted, laneId: string): JobRow {
  const { id, viewer, pool, spec, teamId, retryOf, gpuMost } = job
  const { copies, cpuMillis, memoryBytes, gpu } = toShape(spec.resources)
  return {
    ...unbegun,
    id,
    sequence,
    userId: viewer.userId,
    name: spec.name,
    labels: Object.fromEntries(spec.labels.map(({ key, value }) => [key, value])),
    pool,
    queue: spec.queue,
    executor: spec.executor,
    teamId,
    account: spec.account,
    snapshotId: spec.snapshot ?? null,
    retryOfId: retryOf,
    project: spec.project,
    basePriority: basePriority[viewer.level],
    laneId,
    estimatedCost: spec.estimatedCost,
    cpuMillis: cpuMillis * copies,
    memoryBytes: memoryBytes * copies,
    gpu: gpu * copies,
    gpuMost,
    notBefore: spec.notBefore === null ? null : new Date(spec.notBefore),
    createdAt: new Date(createdMs),
    queuedAt: new Date(createdMs),
    eligibleAt: new Date(eligibleMs),
  }
}

/** Initial values of the other columns of a job, equal to the defaults of the table. */
const unbegun = {
  state: 'QUEUED',
  stateReason: null,
  stateInfo: null,
  version: 1,
  runNumber: 1,
  priorityOverride: null,
  turn: null,
  cost: null,
  exitCode: null,
  progressFraction: null,
  progressMessage: null,
  progressAt: null,
  toldAt: null,
  logClosed: false,
  startedAt: null,
  finishedAt: null,
} as const

export type JobRow = {
  [Column in Exclude<keyof Job, 'spec'>]: bigint extends Job[Column]
    ? number | Exclude<Job[Column], bigint>
    : Job[Column]
}

/** Reads all columns except the spec, which may have 4 MiB. Prisma takes four times as long for the same rows. */
const jobsSql = `SELECT ${Object.values(Prisma.JobScalarFieldEnum)
  .filter((field) => field !== 'spec')
  .map((field) => `${field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} AS "${field}"`)
  .join(', ')} FROM job WHERE id = ANY($1::text[])`

const jobsPerRead = 1_000

/** null: the job does not exist. Combines concurrent reads into one statement, which begins after the call. */
export const readJob = ({ db, whole }: Pick<Domain, 'db' | 'whole'>, id: string): Promise<JobRow | null> =>
  getReader(whole?.db ?? db)(id)

const getReader = perDomain((db: Domain['db']) =>
  createBatcher<string, JobRow | null>({
    max: jobsPerRead,
    mayBeOneItem: () => false,
    async run(ids) {
      const jobs = await db.sql.query<JobRow>(jobsSql, [ids], 'jobs_by_id')
      const byId = new Map(jobs.map((job) => [job.id, job]))
      return ids.map((id) => byId.get(id) ?? null)
    },
  }),
)
