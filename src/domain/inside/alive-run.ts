import { Forbidden } from '../errors.ts'
import { holdingSql } from '../state.ts'

/**
 * The runs whose id fits `condition` and that are alive, with their jobs locked in id order. Asked in the statement
 * that writes, so a run that ended after its token was checked, or that was given up for a newer one, changes nothing.
 * The state is that of the job, because PostgreSQL reads the row of the job again when it had to wait for its lock.
 */
export const aliveRunSql = (condition: string) => `
SELECT job.id, run.id AS run_id, run.number FROM job JOIN run ON run.job_id = job.id AND run.number = job.run_number
WHERE run.id ${condition} AND job.state IN ${holdingSql} ORDER BY job.id FOR NO KEY UPDATE OF job`

export const runIsOver = () => new Forbidden('run')
