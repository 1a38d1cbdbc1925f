import { expect, it } from 'vitest'
import { visitFinished } from '../../../src/domain/jobs/finished.ts'
import { createTestDomain } from '../../support/domain.ts'
import { addJob, finishJob } from '../../support/factories.ts'

const dayMs = 86_400_000

it('a finished job is listed for retention once, and again if the stored position is in the future', async () => {
  await using world = await createTestDomain()
  const { database, it: made } = world
  const { sql } = database.db
  const finished: string[] = []
  for (const days of [2, 1]) {
    const { jobId } = await addJob(sql, made.admin.userId)
    await finishJob(sql, jobId)
    await sql.query("UPDATE job SET finished_at = berth_now() - $2 * interval '1 day' WHERE id = $1", [jobId, days])
    finished.push(jobId)
  }
  const visit = async () => {
    const visited: string[] = []
    const until = new Date(made.domain.time.nowMs() + dayMs)
    const collect = async (jobIds: readonly string[]) => visited.push(...jobIds) > 0
    await visitFinished(made.domain, { task: 'EXPIRE_EVENTS', until, visit: collect })
    return visited
  }
  expect(await visit()).toEqual(finished)
  // Passes overlap by a minute, in which only the last job finished.
  expect(await visit()).toEqual(finished.slice(1))
  await sql.query("UPDATE retention_mark SET finished_at = berth_now() + interval '1 hour'")
  expect(await visit()).toEqual(finished)
})
