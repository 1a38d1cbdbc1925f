import { Forbidden } from '../errors.ts'
import { holdingSql } from '../state.ts'

/**
 * Selects alive runs and locks their jobs in id order, as part of the writing statement: a run that ended meanwhile changes
 * nothing. The state is that of the job, because PostgreSQL rereads its row after waiting for the lock.
 */
export const aliveRunSql = (condition: string) => `
SELECT job.id, run.id AS run_id, run.number FROM job JOIN run ON run.job_id = job.id AND run.number = job.run_number
WHERE run.id ${condition} AND job.state IN ${holdingSql} ORDER BY job.id FOR NO KEY UPDATE OF job`

export const runIsOver = () => new Forbidden('run')
