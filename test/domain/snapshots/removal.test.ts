import { describe, expect, it } from 'vitest'
import { storePack } from '../../../src/domain/snapshots/blobs.ts'
import { sweepSnapshots } from '../../../src/domain/snapshots/removal.ts'
import { createSnapshot, storeList } from '../../../src/domain/snapshots/snapshots.ts'
import { openTestDomain } from '../../support/domain.ts'
import {
  countBlobs,
  limits,
  makeBlob,
  makeBody,
  makeFileList,
  readFiles as readFilesOf,
  sha256,
  storeSnapshot,
  withQuery,
} from '../../support/snapshots.ts'

const { it: world } = await openTestDomain({ singleUser: false })
const { domain } = world
const { sql } = domain.db

let users = 0
const newUser = () => world.user(`user-${++users}`, 'RESEARCHER')
const readFiles = (id: string) => readFilesOf(sql, id)

describe('the deletion of snapshots', () => {
  const age = (id: string, days: number) =>
    sql.query(`UPDATE snapshot SET unused_since = unused_since - $2 * interval '1 day' WHERE id = $1`, [id, days])
  const exists = async (id: string) => (await sql.query('SELECT FROM snapshot WHERE id = $1', [id])).length === 1

  it('waits until no job has used the snapshot for seven days', async () => {
    const ann = await newUser()
    const { id } = await storeSnapshot(domain, ann, { a: 'kept' })
    const jobId = await world.submit({ snapshot: id }, ann)
    await age(id, 8)
    await sweepSnapshots(domain)
    expect(await exists(id)).toBe(true)
    await sql.query('DELETE FROM job WHERE id = $1', [jobId])
    await sweepSnapshots(domain)
    await age(id, 6)
    await sweepSnapshots(domain)
    expect(await exists(id)).toBe(true)
    await age(id, 2)
    await sweepSnapshots(domain)
    expect(await exists(id)).toBe(false)
    expect(await countBlobs(sql, ann.userId)).toBe(0)
  })

  it('keeps blobs that another snapshot uses', async () => {
    const ann = await newUser()
    const first = await storeSnapshot(domain, ann, { a: 'shared', b: 'first' })
    const second = await storeSnapshot(domain, ann, { a: 'shared', b: 'second' })
    await age(first.id, 8)
    await sweepSnapshots(domain)
    expect(await exists(first.id)).toBe(false)
    expect(await readFiles(second.id)).toEqual({ a: `644 ${sha256('shared')}`, b: `644 ${sha256('second')}` })
    expect(await countBlobs(sql, ann.userId)).toBe(2)
    await age(second.id, 8)
    await sweepSnapshots(domain)
    expect(await countBlobs(sql, ann.userId)).toBe(0)
  })

  it('keeps blobs that an unfinished upload needs', async () => {
    const ann = await newUser()
    const first = await storeSnapshot(domain, ann, { a: 'counted on' })
    const list = makeFileList({ a: 'counted on', b: 'new' })
    const { id } = await createSnapshot(domain, ann, list.announced, limits)
    const owner = { snapshotId: id, userId: ann.userId }
    expect(await storeList(domain, owner, makeBody(list.text))).toEqual([sha256('new')])
    await age(first.id, 8)
    await sweepSnapshots(domain)
    await storePack(domain, owner, makeBody(makeBlob('new')))
    expect(await readFiles(id)).toMatchObject({ a: `644 ${sha256('counted on')}` })
  })

  it('needs a few statements, however many snapshots the user has', async () => {
    const ann = await newUser()
    const first = await storeSnapshot(domain, ann, { a: 'shared', b: 'own' })
    for (let n = 0; n < 40; n++) await storeSnapshot(domain, ann, { n: `n${n}` })
    const heir = await storeSnapshot(domain, ann, { a: 'shared' })
    for (let n = 40; n < 80; n++) await storeSnapshot(domain, ann, { n: `n${n}` })
    await age(first.id, 8)
    let statements = 0
    await sweepSnapshots(
      withQuery(domain, (inner, ...statement) => {
        statements += 1
        return inner.query(...statement)
      }),
    )
    expect(await exists(first.id)).toBe(false)
    expect(statements).toBeLessThan(10)
    expect(await readFiles(heir.id)).toEqual({ a: `644 ${sha256('shared')}` })
  })

  it('marks blobs as incomplete, so that a concurrent upload sends them again', async () => {
    const ann = await newUser()
    const first = await storeSnapshot(domain, ann, { a: 'sent again' })
    await age(first.id, 8)
    let second: { id: string; sent: string[] } | null = null
    const interrupted = Object.create(domain.db, {
      sql: {
        value: {
          query: async (...statement: Parameters<typeof sql.query>) => {
            if (second === null && statement[0].includes('DELETE FROM blob_chunk'))
              second = await storeSnapshot(domain, ann, { b: 'sent again' })
            return sql.query(...statement)
          },
        },
      },
    })
    await sweepSnapshots({ ...domain, db: interrupted })
    expect(second).toMatchObject({ sent: [sha256('sent again')] })
    expect(await readFiles(second?.['id'] ?? '')).toEqual({ b: `644 ${sha256('sent again')}` })
    expect(await countBlobs(sql, ann.userId)).toBe(1)
  })

  it('deletes an upload that did not end within a day, with its blobs', async () => {
    const ann = await newUser()
    const list = makeFileList({ a: 'sent', b: 'never sent' })
    const { id } = await createSnapshot(domain, ann, list.announced, limits)
    const owner = { snapshotId: id, userId: ann.userId }
    await storeList(domain, owner, makeBody(list.text))
    await expect(storePack(domain, owner, makeBody(makeBlob('sent')))).rejects.toThrow('missing')
    expect(await countBlobs(sql, ann.userId)).toBe(1)
    await age(id, 2)
    await sweepSnapshots(domain)
    expect([await exists(id), await countBlobs(sql, ann.userId)]).toEqual([false, 0])
  })
})
