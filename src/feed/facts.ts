import type { JobState } from '../domain/state.ts'
import type { Db } from '../platform/db.ts'
import type { Sql } from '../platform/tx.ts'

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

/** The state of a job at one moment. `finishedAt` is the time of the event that ended it. */
export interface StateMoment {
  state: JobState
  finishedAt: Date | null
}

/** Facts of the jobs that events speak of, read once for all readers. */
export interface FactsCache {
  /** The facts of these jobs; those that are gone are missing. One statement at most. */
  of(jobIds: readonly string[]): Promise<ReadonlyMap<string, JobFacts>>
}

/** Jobs that are remembered; the one that was added first goes first. */
const jobsMax = 10_000

export function createFactsCache(db: Db): FactsCache {
  const cache = new Map<string, JobFacts>()
  const reading = new Map<string, Promise<JobFacts | undefined>>()

  function read(jobIds: readonly string[]) {
    const found = readFacts(db.sql, jobIds).then((rows) => new Map(rows.map((facts) => [facts.id, facts])))
    for (const id of jobIds) {
      const one = found.then((rows) => rows.get(id)).finally(() => reading.delete(id))
      one.then(
        (facts) => facts && remember(facts),
        () => undefined,
      )
      reading.set(id, one)
    }
  }

  function remember(facts: JobFacts) {
    cache.set(facts.id, facts)
    for (const id of cache.keys()) {
      if (cache.size <= jobsMax) break
      cache.delete(id)
    }
  }

  return {
    async of(jobIds) {
      const ids = [...new Set(jobIds)]
      const unread = ids.filter((id) => !cache.has(id) && !reading.has(id))
      if (unread.length > 0) read(unread)
      const all = await Promise.all(ids.map((id) => cache.get(id) ?? reading.get(id)))
      return new Map(all.flatMap((facts) => (facts ? [[facts.id, facts] as const] : [])))
    },
  }
}

export async function readFacts(sql: Sql, jobIds: readonly string[]): Promise<JobFacts[]> {
  return sql.query<JobFacts>(
    `SELECT id, user_id AS "userId", name, labels, team_id AS team, account, project, queue, pool, executor,
       created_at AS "createdAt" FROM job WHERE id = ANY($1)`,
    [jobIds],
    'feed_job_facts',
  )
}
