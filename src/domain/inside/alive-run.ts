import { Forbidden } from '../errors.ts'
import { holdingSql } from '../state.ts'

/**
 * Selects the alive runs whose id fits `condition`, with their jobs locked in id order. It is part of the writing
 * statement, so a run that ended after its token was checked, or was replaced by a newer run, changes nothing. The state
 * is read from the job, because PostgreSQL rereads the row of the job after waiting for its lock.
 */
export const aliveRunSql = (condition: string) => `
SELECT job.id, run.id AS run_id, run.number FROM job JOIN run ON run.job_id = job.id AND run.number = job.run_number
WHERE run.id ${condition} AND job.state IN ${holdingSql} ORDER BY job.id FOR NO KEY UPDATE OF job`

export const runIsOver = () => new Forbidden('run')
