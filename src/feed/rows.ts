import { type JobRow, readJob } from '../domain/submission/stored-job.ts'
import type { Db } from '../platform/db.ts'

/**
 * The jobs that messages show, read once for all readers: what an event costs does not grow with its audience. A row is
 * at least as new as the event that it is asked for, and no reader sees an older row after a newer one.
 */
export interface JobRows {
  /** null: the job was deleted. */
  at(jobId: string, wanted: WantedRow): Promise<JobRow | null>
  /** The job was deleted. */
  forget(jobId: string): void
}

interface WantedRow {
  version: number
  /** The row must have this `toldAt` or a later one; 0: any. */
  toldMs?: number
}

/** Rows, and ids of deleted jobs, that are remembered; the one that was added first goes first. */
const jobsMax = 4_096

export function createJobRows(db: Db): JobRows {
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
    at(jobId, { version, toldMs = 0 }) {
      const known = rows.get(jobId)
      if (known === null || (known && known.version >= version && toldMsOf(known) >= toldMs))
        return Promise.resolve(known)
      const key = `${jobId} ${version} ${toldMs}`
      const begun = reading.get(key) ?? read(jobId).finally(() => reading.delete(key))
      reading.set(key, begun)
      return begun
    },
    forget: (jobId) => remember(jobId, null),
  }
}

const toldMsOf = ({ toldAt }: JobRow) => toldAt?.getTime() ?? 0

const isNewer = (one: JobRow, other: JobRow) =>
  one.version > other.version || (one.version === other.version && toldMsOf(one) > toldMsOf(other))
