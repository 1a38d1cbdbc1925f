import { expect, test } from 'vitest'
import { Forbidden } from '../../../src/domain/errors.ts'
import { publishArtifact } from '../../../src/domain/inside/artifacts.ts'
import { createRunTokenCheck, createRunViewer, deriveRunToken } from '../../../src/domain/inside/run-tokens.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { storePack } from '../../../src/domain/snapshots/blobs.ts'
import { createSnapshot, storeList } from '../../../src/domain/snapshots/snapshots.ts'
import type { Db } from '../../../src/platform/db.ts'
import { openTestDomain } from '../../support/domain.ts'
import { limits, makeBlob, makeBody, makeFileList, storeSnapshot } from '../../support/snapshots.ts'

const { database, it } = await openTestDomain()

async function startRun() {
  const jobId = await it.submit()
  const [moved] = await transition(
    database.db.sql,
    [{ jobId, run: 1, from: 'QUEUED', to: 'STARTING', reason: null }],
    it.time.nowMs(),
  )
  const run = await createRunTokenCheck(it.domain)(await deriveRunToken(it.domain, moved?.runId ?? ''))
  if (!run) throw new Error('The token was refused')
  return { jobId, viewer: createRunViewer(run, { ip: null, requestId: null }) }
}

test('the file list of a snapshot is not read if the run is over, or if the snapshot has several files', async () => {
  const { jobId, viewer } = await startRun()
  const [owner] = await database.db.sql.query<{ userId: string }>('SELECT user_id AS "userId" FROM job WHERE id = $1', [
    jobId,
  ])
  const { id: snapshotId } = await storeSnapshot(it.domain, { ...it.admin, ...owner }, { a: 'a', b: 'b' })
  const statements: string[] = []
  const locking: Db['locking'] = (work) =>
    it.domain.db.locking((tx) => {
      const query: typeof tx.query = (text, ...rest) => {
        statements.push(text)
        return tx.query(text, ...rest)
      }
      return work(Object.create(tx, { query: { value: query } }))
    })
  const domain = { ...it.domain, db: { ...it.domain.db, locking } }
  const publish = () => publishArtifact(domain, viewer, { name: 'a', mediaType: 'text/plain', snapshotId })
  await expect(publish()).rejects.toThrow('The snapshot must have one file alone')
  expect(statements).not.toContainEqual(expect.stringContaining('SELECT list'))
  const move = { jobId, run: 1, reason: null } as const
  await transition(database.db.sql, [{ ...move, from: 'STARTING', to: 'RUNNING' }], it.time.nowMs())
  await transition(database.db.sql, [{ ...move, from: 'RUNNING', to: 'SUCCEEDED' }], it.time.nowMs())
  statements.length = 0
  await expect(publish()).rejects.toBeInstanceOf(Forbidden)
  expect(statements).toHaveLength(1)
})

test('a snapshot is refused as an artifact until its file has arrived', async () => {
  const { jobId, viewer } = await startRun()
  const [owner] = await database.db.sql.query<{ userId: string }>('SELECT user_id AS "userId" FROM job WHERE id = $1', [
    jobId,
  ])
  const { announced, text } = makeFileList({ late: 'not here yet' })
  const { id: snapshotId } = await createSnapshot(it.domain, { ...it.admin, ...owner }, announced, limits)
  const store = { snapshotId, userId: owner?.userId ?? '' }
  expect(await storeList(it.domain, store, makeBody(text))).toHaveLength(1)
  const publish = () => publishArtifact(it.domain, viewer, { name: 'late', mediaType: 'text/plain', snapshotId })
  await expect(publish()).rejects.toThrow(`Snapshot ${snapshotId} not found, or incomplete`)
  await storePack(it.domain, store, makeBody(makeBlob('not here yet')))
  await expect(publish()).resolves.toMatch(/^artifact_/)
})

test('all concurrent artifacts of a run are stored over one database connection', async () => {
  const { viewer } = await startRun()
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
  const publish = (_: unknown, n: number) =>
    publishArtifact(domain, viewer, { name: `part ${n}`, mediaType: 'text/plain', body: String(n) })
  const ids = await Promise.all(Array.from({ length: 200 }, publish))
  expect(new Set(ids).size).toBe(200)
  expect(most).toBe(1)
})
