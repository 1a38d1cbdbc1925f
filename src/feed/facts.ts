import type { Db } from '../platform/db.ts'
import { type JobFacts, readFacts } from './filter.ts'

/** What never changes of the jobs that events speak of, read once for all readers. */
export interface FactsCache {
  /** The facts of these jobs; those that are gone are missing. One statement at most. */
  of(jobIds: readonly string[]): Promise<ReadonlyMap<string, JobFacts>>
}

/** Jobs that are remembered; the one that was added first goes first. */
const jobsMax = 10_000

export function createFactsCache(db: Db): FactsCache {
  const cache = new Map<string, JobFacts>()
  return {
    async of(jobIds) {
      const found = new Map<string, JobFacts>()
      const missing = new Set<string>()
      for (const id of jobIds) {
        const facts = cache.get(id)
        if (facts) found.set(id, facts)
        else missing.add(id)
      }
      if (missing.size === 0) return found
      for (const facts of await readFacts(db.sql, [...missing])) {
        found.set(facts.id, facts)
        cache.set(facts.id, facts)
      }
      for (const id of cache.keys()) {
        if (cache.size <= jobsMax) break
        cache.delete(id)
      }
      return found
    },
  }
}
