import { randomBytes } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import { readArchive } from '../../../src/domain/snapshots/archive.ts'
import { storePack } from '../../../src/domain/snapshots/blobs.ts'
import { sweepSnapshots } from '../../../src/domain/snapshots/removal.ts'
import { createSnapshot, storeList } from '../../../src/domain/snapshots/snapshots.ts'
import { S3Objects } from '../../../src/platform/object-store.ts'
import { openTestDomain } from '../../support/domain.ts'
import { openS3 } from '../../support/s3.ts'
import { blobOf, bodyOf, limits, listOf, storeSnapshot } from '../../support/snapshots.ts'

/** Contents of large files in a bucket of S3. */

const s3 = await openS3()
afterAll(() => s3[Symbol.asyncDispose]())
const objects = new S3Objects(s3.settings)
const { it: world } = await openTestDomain({ singleUser: false })
const domain = { ...world.domain, objects }
const { sql } = domain.db

let users = 0
const newUser = () => world.user(`owner-${++users}`, 'RESEARCHER')

async function join(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const piece of pieces) parts.push(piece)
  return Buffer.concat(parts)
}
const keysOf = async ({ userId }: Viewer) =>
  (
    await sql.query<{ key: string }>(
      'SELECT object_key AS key FROM blob WHERE user_id = $1 AND object_key IS NOT NULL',
      [userId],
    )
  ).map(({ key }) => key)
const sweepLater = async ({ userId }: Viewer) => {
  await sql.query(`UPDATE snapshot SET unused_since = unused_since - interval '8 days' WHERE user_id = $1`, [userId])
  await sweepSnapshots(domain)
}

describe('the object store', () => {
  it.each([
    ['empty', 0],
    ['of one part', 300_000],
    ['of exactly one part', 16 * 1024 * 1024],
    ['of several parts', 40_000_001],
  ])('stores, reads and removes an object %s', async (_, bytes) => {
    const content = randomBytes(bytes)
    const key = `blobs/test-${bytes}`
    await objects.put(key, bodyOf(content))
    expect((await join(objects.get(key))).equals(content)).toBe(true)
    if (bytes > 0) expect((await join(objects.get(key, bytes - 5))).equals(content.subarray(-5))).toBe(true)
    await objects.delete(key)
    await objects.delete(key)
    await expect(join(objects.get(key))).rejects.toThrow('The object store answers 404 NoSuchKey')
  })

  it('has no object of a content that breaks', async () => {
    async function* broken() {
      yield* bodyOf(randomBytes(40_000_000))
      throw new Error('cut')
    }
    await expect(objects.put('blobs/broken', broken())).rejects.toThrow('cut')
    await expect(join(objects.get('blobs/broken'))).rejects.toThrow('404')
  })
})

describe('a snapshot with large files', () => {
  it('has them in the bucket until no job names it', async () => {
    const ann = await newUser()
    const large = randomBytes(20_000_000)
    const { id } = await storeSnapshot(domain, ann, { large, small: 'small' })
    const [key = '', ...more] = await keysOf(ann)
    expect(more).toEqual([])
    expect((await join(objects.get(key))).equals(large)).toBe(true)
    expect(
      await sql.query('SELECT FROM blob_chunk JOIN blob b ON b.id = blob_id WHERE user_id = $1', [ann.userId]),
    ).toHaveLength(1)
    const archive = await join(readArchive(sql, id, { mtime: new Date(), objects }))
    expect(archive.indexOf(large)).toBeGreaterThan(0)
    await expect(join(readArchive(sql, id, { mtime: new Date() }))).rejects.toThrow('files.s3 is not set')
    await sweepLater(ann)
    await expect(join(objects.get(key))).rejects.toThrow('404')
    expect(await sql.query('SELECT FROM removed_object')).toEqual([])
  })

  it('leaves no object of an upload that is wrong or broken', async () => {
    const ann = await newUser()
    const large = randomBytes(400_000)
    const list = listOf({ large })
    const { id } = await createSnapshot(domain, ann, list.announced, limits)
    const owner = { snapshotId: id, userId: ann.userId }
    await storeList(domain, owner, bodyOf(list.text))
    const wrong = Buffer.concat([blobOf(large).subarray(0, -1), Buffer.from('!')])
    await expect(storePack(domain, owner, bodyOf(wrong))).rejects.toThrow('another SHA-256')
    const [key = ''] = await keysOf(ann)
    const failing = { ...domain, objects: { ...objects, put: () => Promise.reject(new Error('down')) } as never }
    await expect(storePack(failing, owner, bodyOf(blobOf(large)))).rejects.toThrow('down')
    expect(await keysOf(ann)).toHaveLength(2)
    await sweepSnapshots(domain)
    expect(await keysOf(ann)).toEqual([])
    await expect(join(objects.get(key))).rejects.toThrow('404')
    await storePack(domain, owner, bodyOf(blobOf(large)))
    expect((await join(readArchive(sql, id, { mtime: new Date(), objects }))).indexOf(large)).toBeGreaterThan(0)
  })

  it('keeps the key of an object until the object is gone', async () => {
    const ann = await newUser()
    await storeSnapshot(domain, ann, { large: randomBytes(400_000) })
    const [key = ''] = await keysOf(ann)
    const away = { ...domain, objects: { delete: () => Promise.reject(new Error('away')) } as never }
    await sql.query(`UPDATE snapshot SET unused_since = unused_since - interval '8 days' WHERE user_id = $1`, [
      ann.userId,
    ])
    await expect(sweepSnapshots(away)).rejects.toThrow('away')
    expect(await keysOf(ann)).toEqual([])
    await join(objects.get(key))
    await sweepSnapshots(domain)
    await expect(join(objects.get(key))).rejects.toThrow('404')
  })
})
