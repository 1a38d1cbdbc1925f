import { randomBytes } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import { readArchive } from '../../../src/domain/snapshots/archive.ts'
import { abandonSql, storePack } from '../../../src/domain/snapshots/blobs.ts'
import { sweepSnapshots } from '../../../src/domain/snapshots/removal.ts'
import { createSnapshot, storeList } from '../../../src/domain/snapshots/snapshots.ts'
import { S3Objects } from '../../../src/platform/object-store.ts'
import { Unavailable } from '../../../src/platform/tx.ts'
import { openTestDomain } from '../../support/domain.ts'
import { openS3 } from '../../support/s3.ts'
import { limits, makeBlob, makeBody, makeFileList, storeSnapshot } from '../../support/snapshots.ts'
import { until } from '../../support/until.ts'

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
  await sweepObjects()
}
const sweepObjects = async (using = domain) => {
  await sql.query(`UPDATE removed_object SET remove_at = remove_at - interval '1 hour'`)
  await sweepSnapshots(using)
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
    await objects.put(key, makeBody(content))
    expect((await join(objects.get(key))).equals(content)).toBe(true)
    if (bytes > 0) expect((await join(objects.get(key, bytes - 5))).equals(content.subarray(-5))).toBe(true)
    await objects.delete(key)
    await objects.delete(key)
    await expect(join(objects.get(key))).rejects.toThrow('The object store answers 404 NoSuchKey')
  })

  it('stores no object if the upload of its content breaks off', async () => {
    async function* broken() {
      yield* makeBody(randomBytes(40_000_000))
      throw new Error('cut')
    }
    await expect(objects.put('blobs/broken', broken())).rejects.toThrow('cut')
    await expect(join(objects.get('blobs/broken'))).rejects.toThrow('404')
  })
})

describe('an object store', () => {
  const serve = async (status: number, respond: (response: ServerResponse) => void) => {
    const server = createServer((_, response) => respond(response.writeHead(status)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return { server, store: new S3Objects({ ...s3.settings, endpoint }) }
  }

  it.each<[string, number, string, (response: ServerResponse) => void]>([
    [
      'sends the whole object for a range',
      200,
      'the whole object instead of a range',
      (response) => response.end('abc'),
    ],
    [
      'breaks off',
      206,
      'The object store interrupted the download',
      (response) => response.write('abc', () => setTimeout(() => response.destroy(), 50)),
    ],
  ])('that %s is reported as unavailable', async (_, status, message, respond) => {
    const { server, store } = await serve(status, respond)
    const read = join(store.get('blobs/x', 1))
    await expect(read).rejects.toThrow(message)
    await expect(read).rejects.toBeInstanceOf(Unavailable)
    server.closeAllConnections()
    server.close()
  })

  it('that closes a connection gets the request again', async () => {
    let requests = 0
    const { server, store } = await serve(200, (response) => {
      if (++requests === 1) response.destroy()
      else response.end()
    })
    await store.put('blobs/x', makeBody('abc'))
    expect(requests).toBe(2)
    server.close()
  })
})

describe('a snapshot with large files', () => {
  it('stores them in the bucket until no job uses the snapshot', async () => {
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

  it('leaves no object of an upload that is wrong or interrupted', async () => {
    const ann = await newUser()
    const large = randomBytes(400_000)
    const list = makeFileList({ large })
    const { id } = await createSnapshot(domain, ann, list.announced, limits)
    const owner = { snapshotId: id, userId: ann.userId }
    await storeList(domain, owner, makeBody(list.text))
    const wrong = Buffer.concat([makeBlob(large).subarray(0, -1), Buffer.from('!')])
    await expect(storePack(domain, owner, makeBody(wrong))).rejects.toThrow('another SHA-256')
    const [key = ''] = await keysOf(ann)
    const failing = { ...domain, objects: { ...objects, put: () => Promise.reject(new Error('down')) } as never }
    await expect(storePack(failing, owner, makeBody(makeBlob(large)))).rejects.toThrow('down')
    expect(await keysOf(ann)).toHaveLength(2)
    await sweepSnapshots(domain)
    expect(await keysOf(ann)).toEqual([])
    await sweepObjects()
    await expect(join(objects.get(key))).rejects.toThrow('404')
    await storePack(domain, owner, makeBody(makeBlob(large)))
    expect((await join(readArchive(sql, id, { mtime: new Date(), objects }))).indexOf(large)).toBeGreaterThan(0)
  })

  it('keeps the key of an object until the object is deleted', async () => {
    const ann = await newUser()
    await storeSnapshot(domain, ann, { large: randomBytes(400_000) })
    const [key = ''] = await keysOf(ann)
    const away = { ...domain, objects: { delete: () => Promise.reject(new Error('away')) } as never }
    await sql.query(`UPDATE snapshot SET unused_since = unused_since - interval '8 days' WHERE user_id = $1`, [
      ann.userId,
    ])
    await sweepSnapshots(away) // an object waits an hour: its PUT may still be under way
    expect(await keysOf(ann)).toEqual([])
    await expect(sweepObjects(away)).rejects.toThrow('away')
    await join(objects.get(key))
    await sweepObjects()
    await expect(join(objects.get(key))).rejects.toThrow('404')
  })

  it('keeps an object whose blob becomes complete while its upload is abandoned', async () => {
    const ann = await newUser()
    await storeSnapshot(domain, ann, { large: randomBytes(400_000) })
    const [key = ''] = await keysOf(ann)
    await sql.query('UPDATE blob SET complete = false WHERE object_key = $1', [key])
    const [blob] = await sql.query<{ id: number }>('SELECT id FROM blob WHERE object_key = $1', [key])
    const abandoned = await domain.db.transaction(async (tx) => {
      await tx.query('UPDATE blob SET complete = true WHERE id = $1', [blob?.id])
      const waits = sql.query(abandonSql, [blob?.id, key])
      await until(async () => (await sql.query(`SELECT FROM pg_locks WHERE NOT granted`)).length > 0, {
        what: 'the statement waits for the row',
      })
      return { waits }
    })
    await abandoned.waits
    expect(await sql.query('SELECT FROM removed_object WHERE key = $1', [key])).toEqual([])
    expect(
      await sql.query('SELECT FROM blob WHERE object_key = $1 AND complete AND snapshot_id IS NOT NULL', [key]),
    ).toHaveLength(1)
  })

  it('is deleted although the object of another snapshot cannot be deleted', async () => {
    const asked: string[] = []
    const locked = {
      ...domain,
      objects: {
        delete: async (key: string) => {
          asked.push(key)
          if (key.includes('locked')) throw new Error(`${key} is locked`)
        },
      } as never,
    }
    await sql.query(`INSERT INTO used_upload (id, used_at) VALUES ('old', berth_now() - interval '2 hours')`)
    await sql.query(`INSERT INTO removed_object (key) VALUES ('a-locked'), ('b'), ('c-locked'), ('d')`)
    await expect(sweepObjects(locked)).rejects.toThrow('a-locked is locked')
    expect(asked).toEqual(['a-locked', 'b', 'c-locked', 'd'])
    expect(await sql.query(`SELECT FROM used_upload WHERE id = 'old'`)).toEqual([])
    asked.length = 0
    await sql.query(`INSERT INTO removed_object (key, remove_at) VALUES ('e', berth_now())`)
    await sweepSnapshots(locked)
    expect(asked).toEqual(['e']) // the others are tried again an hour later
    await sql.query(`INSERT INTO removed_object (key) SELECT 'locked-' || n FROM generate_series(10, 29) n`)
    asked.length = 0
    await expect(sweepObjects(locked)).rejects.toThrow('is locked')
    expect(asked).toHaveLength(10) // a store that is away does not hold up the pruner
    await sql.query('DELETE FROM removed_object')
  })

  it('leaves no object if it is deleted while the object is stored', async () => {
    const ann = await newUser()
    const large = randomBytes(400_000)
    const list = makeFileList({ large })
    const { id } = await createSnapshot(domain, ann, list.announced, limits)
    const owner = { snapshotId: id, userId: ann.userId }
    await storeList(domain, owner, makeBody(list.text))
    let key = ''
    const slow = {
      ...domain,
      objects: Object.create(objects, {
        put: {
          value: async (...[name, content]: Parameters<typeof objects.put>) => {
            key = name
            await sweepLater(ann)
            await objects.put(name, content)
          },
        },
      }),
    }
    await expect(storePack(slow, owner, makeBody(makeBlob(large)))).rejects.toThrow('not found')
    await join(objects.get(key))
    await sweepObjects()
    await expect(join(objects.get(key))).rejects.toThrow('404')
  })
})
