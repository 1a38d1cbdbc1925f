import { type JobRow, readJob } from '../domain/submission/stored-job.ts'
import type { Db } from '../platform/db.ts'

export type JobRows = ReturnType<typeof createJobRows>

interface WantedRow {
  version: number
  /** Minimum `toldAt` of the row; 0: any. */
  toldMs?: number
}

/** Maximum number of cached rows and ids of deleted jobs. The oldest entry is dropped first. */
const jobsMax = 4_096

/** Caches rows of jobs for all readers. No reader gets an older row after a newer one. */
export function createJobRows(db: Db) {
  const rows = new Map<string, JobRow | null>()
  const reading = new Map<string, Promise<JobRow | null>>()

  async function read(jobId: string) {
    const row = await readJob({ db }, jobId)
    const known = rows.get(jobId)
    if (known === null || (row && known && isNewer(known, row))) return known
    remember(jobId, row)
    return row
  }

  function remember(jobId: string, row: JobRow | null) {
    rows.delete(jobId)
    rows.set(jobId, row)
    for (const id of rows.keys()) {
      if (rows.size <= jobsMax) break
      rows.delete(id)
    }
  }

  return {
    /** Returns null if the job was deleted. */
    at(jobId: string, { version, toldMs = 0 }: WantedRow): Promise<JobRow | null> {
      const known = rows.get(jobId)
      if (known === null || (known && known.version >= version && toldMsOf(known) >= toldMs))
        return Promise.resolve(known)
      const key = `${jobId} ${version} ${toldMs}`
      const begun = reading.get(key) ?? read(jobId).finally(() => reading.delete(key))
      reading.set(key, begun)
      return begun
    },
    forget: (jobId: string) => remember(jobId, null),
  }
}

const toldMsOf = ({ toldAt }: JobRow) => toldAt?.getTime() ?? 0

const isNewer = (one: JobRow, other: JobRow) =>
  one.version > other.version || (one.version === other.version && toldMsOf(one) > toldMsOf(other))
