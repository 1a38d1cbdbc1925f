import { expect, test } from 'vitest'
import { publishArtifact } from '../../../src/domain/inside/artifacts.ts'
import { createRunTokenCheck, createRunViewer, deriveRunToken } from '../../../src/domain/inside/run-tokens.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import type { Db } from '../../../src/platform/db.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain()

test('all concurrent artifacts of a run are stored over one connection', async () => {
  const jobId = await it.submit()
  const [moved] = await transition(
    database.db.sql,
    [{ jobId, run: 1, from: 'QUEUED', to: 'STARTING', reason: null }],
    it.time.nowMs(),
  )
  const run = await createRunTokenCheck(it.domain)(await deriveRunToken(it.domain, moved?.runId ?? ''))
  if (!run) throw new Error('The token was refused')
  let inFlight = 0
  let most = 0
  const locking: Db['locking'] = async (work, ...rest) => {
    inFlight += 1
    most = Math.max(most, inFlight)
    try {
      return await it.domain.db.locking(work, ...rest)
    } finally {
      inFlight -= 1
    }
  }
  const domain = { ...it.domain, db: { ...it.domain.db, locking } }
  const viewer = createRunViewer(run, { ip: null, requestId: null })
  const publish = (_: unknown, n: number) =>
    publishArtifact(domain, viewer, { name: `part ${n}`, mediaType: 'text/plain', body: String(n) })
  const ids = await Promise.all(Array.from({ length: 200 }, publish))
  expect(new Set(ids).size).toBe(200)
  expect(most).toBe(1)
})
