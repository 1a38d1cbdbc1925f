import { expect, test } from 'vitest'
import { publishArtifact } from '../../../src/domain/inside/artifacts.ts'
import { saveClosure } from '../../../src/domain/inside/closures.ts'
import { reportProgress } from '../../../src/domain/inside/progress.ts'
import { createRunTokenCheck, createRunViewer, deriveRunToken } from '../../../src/domain/inside/run-tokens.ts'
import { type Move, transition } from '../../../src/domain/jobs/transition.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain()

const move = (jobId: string, step: Omit<Move, 'jobId'>) =>
  transition(database.db.sql, [{ jobId, ...step }], it.time.nowMs())

test.each<[string, Omit<Move, 'jobId' | 'run' | 'from'>]>([
  ['ended', { to: 'SUCCEEDED', reason: null, exitCode: 0 }],
  ['was given up for a newer one', { to: 'QUEUED', reason: 'NODE_LOST', runEnds: 'INTERRUPTED' }],
])('a report of a run that %s after the check of its token changes no rows', async (_, over) => {
  const jobId = await it.submit()
  const start = (run: number) => move(jobId, { run, from: 'QUEUED', to: 'STARTING', reason: null })
  const [moved] = await start(1)
  await move(jobId, { run: 1, from: 'STARTING', to: 'RUNNING', reason: null })
  const run = await createRunTokenCheck(it.domain)(await deriveRunToken(it.domain, moved?.runId ?? ''))
  if (!run) throw new Error('The token was refused')
  const viewer = createRunViewer(run, { ip: null, requestId: null })
  const saved = async () => {
    const [row] = await database.db.sql.query(
      `SELECT j.progress_fraction, (SELECT count(*) FROM artifact a WHERE a.job_id = j.id) AS artifacts,
         (SELECT count(*) FROM closure c WHERE c.job_id = j.id) AS closures, j.version
       FROM job j WHERE j.id = $1`,
      [jobId],
    )
    return row
  }
  await reportProgress(it.domain, viewer, { fraction: 0.25 })
  await move(jobId, { run: 1, from: 'RUNNING', ...over })
  if (over.to === 'QUEUED') await start(2)
  const before = await saved()
  const late = [
    () => reportProgress(it.domain, viewer, { fraction: 1 }),
    () => publishArtifact(it.domain, viewer, { name: 'late', mediaType: 'text/plain', body: 'x' }),
    () => saveClosure(it.domain, viewer, { step: 9 }),
  ]
  for (const each of late) await expect(each()).rejects.toMatchObject({ code: 'FORBIDDEN', requiredPermission: 'run' })
  expect(await saved()).toEqual(before)
  expect(before).toMatchObject({ progress_fraction: 0.25, artifacts: 0, closures: 0 })
})
