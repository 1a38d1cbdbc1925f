import { randomBytes, randomInt } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import type { Domain } from '../../../src/domain/domain.ts'
import { readArchive } from '../../../src/domain/snapshots/archive.ts'
import { storePack } from '../../../src/domain/snapshots/blobs.ts'
import { sweepSnapshots } from '../../../src/domain/snapshots/removal.ts'
import { createSnapshot, storeList } from '../../../src/domain/snapshots/snapshots.ts'
import type { Sql } from '../../../src/platform/tx.ts'
import { openTestDomain } from '../../support/domain.ts'
import { limits, makeBlob, makeBody, makeFileList, storeSnapshot, toContent } from '../../support/snapshots.ts'
import { isWhole } from '../../support/whole.ts'

/** If a server or client ends during an upload or a removal, no snapshot is incomplete and no data is lost. */

const { it: world } = await openTestDomain({ singleUser: false })
const { domain } = world
const { sql } = domain.db
const deaths = isWhole ? 50 : 10

let users = 0
const newUser = () => world.user(`mortal-${++users}`, 'RESEARCHER')

class Death extends Error {}

/**
 * A domain whose statements fail from a given one on, as if the server had been killed; open transactions are rolled
 * back.
 */
function dieAfter(statements: number): { mortal: Domain; isDead: () => boolean } {
  let left = statements
  const counted = (inner: Sql): Sql => ({
    query: async (...statement) => {
      if (left-- <= 0) throw new Death('killed')
      return inner.query(...statement)
    },
  })
  const db = Object.create(domain.db, {
    sql: { value: counted(sql) },
    transaction: { value: (work: (tx: Sql) => Promise<unknown>) => domain.db.transaction((tx) => work(counted(tx))) },
  })
  return { mortal: { ...domain, db }, isDead: () => left < 0 }
}

const newFiles = () => ({
  small: `small ${randomInt(1e9)}`,
  large: randomBytes(600_000),
  other: `other ${randomInt(1e9)}`,
})
type Files = ReturnType<typeof newFiles>

async function upload(by: Domain, viewer: Viewer, files: Files, cutAt = Number.POSITIVE_INFINITY): Promise<void> {
  const list = makeFileList(files)
  const { id } = await createSnapshot(by, viewer, list.announced, limits)
  const owner = { snapshotId: id, userId: viewer.userId }
  const missing = await storeList(by, owner, makeBody(list.text))
  const contents = Object.values(files).map(toContent)
  async function* pack() {
    let sent = 0
    for await (const piece of makeBody(...contents.map(makeBlob))) {
      if (sent + piece.length > cutAt) {
        yield piece.subarray(0, cutAt - sent)
        throw new Death('the client is gone')
      }
      sent += piece.length
      yield piece
    }
  }
  if (missing.length > 0) await storePack(by, owner, pack())
}

const unlessKilled = (work: Promise<void>) =>
  work.catch((error) => {
    if (!(error instanceof Death)) throw error
  })

async function readBytes(id: string): Promise<number> {
  let bytes = 0
  for await (const part of readArchive(sql, id, { mtime: new Date() })) bytes += part.length
  return bytes
}

const read = async (text: string, userId: string) => (await sql.query<{ n: number }>(text, [userId]))[0]?.n
const blobsOf = (userId: string) => read('SELECT count(*) AS n FROM blob WHERE user_id = $1', userId)
const completeOf = (userId: string) =>
  read('SELECT count(*) AS n FROM snapshot WHERE user_id = $1 AND completed_at IS NOT NULL', userId)
const age = (userId: string) =>
  sql.query(`UPDATE snapshot SET unused_since = unused_since - interval '8 days' WHERE user_id = $1`, [userId])

/** After the next try the snapshot is complete, and a sweep keeps its three blobs. */
async function expectRecovery(viewer: Viewer, files: Files): Promise<void> {
  const { id } = await storeSnapshot(domain, viewer, files)
  expect(await readBytes(id)).toBeGreaterThan(600_000)
  await sweepSnapshots(domain)
  expect(await blobsOf(viewer.userId)).toBe(3)
}

/** Without another try, a sweep removes everything. */
async function expectRemoval(viewer: Viewer): Promise<void> {
  await age(viewer.userId)
  await sweepSnapshots(domain)
  expect(await blobsOf(viewer.userId)).toBe(0)
}

describe('the death', () => {
  it('of the server at any statement of an upload leaves no incomplete snapshot', async () => {
    let died = true
    for (let at = 0; died; at++) {
      const [ann, files, { mortal, isDead }] = [await newUser(), newFiles(), dieAfter(at)]
      await unlessKilled(upload(mortal, ann, files))
      died = isDead()
      expect([at, await completeOf(ann.userId)]).toEqual([at, died ? 0 : 1])
      if (at % 2 === 0) await expectRecovery(ann, files)
      else await expectRemoval(ann)
    }
  })

  it(`of the client at ${deaths} moments of an upload leaves no incomplete snapshot`, async () => {
    for (let at = 0; at < deaths; at++) {
      const [ann, files] = [await newUser(), newFiles()]
      await unlessKilled(upload(domain, ann, files, randomInt(600_000)))
      expect(await completeOf(ann.userId)).toBe(0)
      if (at % 2 === 0) await expectRecovery(ann, files)
      else await expectRemoval(ann)
    }
  })

  it('of the server at any statement of a deletion loses no blob of a snapshot that a job uses', async () => {
    let died = true
    for (let at = 0; died; at++) {
      const [ann, files] = [await newUser(), newFiles()]
      await storeSnapshot(domain, ann, { ...files, small: 'of the first alone' })
      const kept = await storeSnapshot(domain, ann, files)
      await world.submit({ snapshot: kept.id }, ann)
      await age(ann.userId)
      const { mortal, isDead } = dieAfter(at)
      await unlessKilled(sweepSnapshots(mortal))
      died = isDead()
      expect(await readBytes(kept.id)).toBeGreaterThan(600_000)
      await sweepSnapshots(domain)
      expect(await readBytes(kept.id)).toBeGreaterThan(600_000)
      expect([at, await blobsOf(ann.userId)]).toEqual([at, 3])
    }
  })
})
