import { Forbidden } from '../errors.ts'
import { holdingSql } from '../state.ts'

/**
 * Selects alive runs and locks their jobs in id order. It is part of the statement that writes, so nothing changes for
 * a run that has ended meanwhile. Checks the state of the job, because PostgreSQL rereads only its row after waiting
 * for the lock.
 */
export const aliveRunSql = (condition: string) => `
SELECT job.id, run.id AS run_id, run.number FROM job JOIN run ON run.job_id = job.id AND run.number = job.run_number
WHERE run.id ${condition} AND job.state IN ${holdingSql} ORDER BY job.id FOR NO KEY UPDATE OF job`

export const makeRunIsOverError = () => new Forbidden('run')
