import { holdingSql, type JobState, type StateReason } from '../domain/state.ts'
import type { Db } from '../platform/db.ts'
import type { Sql } from '../platform/tx.ts'
import { cacheReads } from './read-cache.ts'

/** Fields of a job that never change. */
export interface JobFacts {
  id: string
  userId: string
  name: string | null
  labels: Readonly<Record<string, string>>
  team: string | null
  account: string
  project: string | null
  queue: string
  pool: string
  executor: string
  createdAt: Date
}

/** Reasons of states as stored. The reason of a BLOCKED job is stored with its approval. */
export type StoredReason = StateReason | 'APPROVAL_PENDING'

/** The state of a job at one moment. `finishedAt` is the time of the event that ended the job. */
export interface StateMoment {
  state: JobState
  reason: StoredReason | null
  finishedAt: Date | null
}

export type FactsCache = ReturnType<typeof createFactsCache>

/** Maximum number of cached jobs. The oldest entry is dropped first. */
const jobsMax = 10_000

/** Caches facts of jobs. Omits deleted jobs. */
export function createFactsCache(db: Db) {
  const known = new Map<string, Promise<JobFacts | undefined>>()
  const read = cacheReads(
    known,
    async (jobIds) => new Map((await readFacts(db.sql, jobIds)).map((job) => [job.id, job])),
  )
  return (jobIds: readonly string[]): Promise<ReadonlyMap<string, JobFacts>> => {
    const facts = read([...new Set(jobIds)])
    for (const id of known.keys()) {
      if (known.size <= jobsMax) break
      known.delete(id)
    }
    return facts
  }
}

/** Finds the jobs that had a run on the node of this name. The value is true if a run is on it now. */
export async function readJobsOnNode(
  sql: Sql,
  jobIds: readonly string[],
  node: string,
): Promise<ReadonlyMap<string, boolean>> {
  const rows = await sql.query<{ id: string; isNow: boolean }>(
    `SELECT job_id AS id, bool_or(state IN ${holdingSql}) AS "isNow" FROM run
     WHERE job_id = ANY($1) AND $2 = ANY(nodes) GROUP BY 1`,
    [jobIds, node],
    'feed_jobs_on_node',
  )
  return new Map(rows.map(({ id, isNow }) => [id, isNow]))
}

export async function readFacts(sql: Sql, jobIds: readonly string[]): Promise<JobFacts[]> {
  return sql.query<JobFacts>(
    `SELECT id, user_id AS "userId", name, labels, team_id AS team, account, project, queue, pool, executor,
       created_at AS "createdAt" FROM job WHERE id = ANY($1)`,
    [jobIds],
    'feed_job_facts',
  )
}
