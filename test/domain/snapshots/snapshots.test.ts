import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ArchiveTarget } from '../../../src/domain/snapshots/archive.ts'
import { storePack } from '../../../src/domain/snapshots/blobs.ts'
import { sweepSnapshots } from '../../../src/domain/snapshots/removal.ts'
import { createSnapshot, storeList } from '../../../src/domain/snapshots/snapshots.ts'
import { openTestDomain } from '../../support/domain.ts'
import {
  type Content,
  countBlobs,
  limits,
  makeBlob,
  makeBody,
  makeFileList,
  readEntries as readEntriesOf,
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
const readEntries = (id: string, target?: ArchiveTarget) => readEntriesOf(sql, id, target)

const git = { commit: 'a'.repeat(40), branch: 'main', remote: null, changed: 1, diff: null }

describe('a snapshot', () => {
  it('stores files of any size, with their modes and links', async () => {
    const large = randomBytes(3 * 256 * 1024 + 5)
    const exact = randomBytes(256 * 1024)
    const long = `${'deep/'.repeat(40)}${'n'.repeat(200)}`
    const { id } = await storeSnapshot(domain, await newUser(), {
      'a.txt': 'a'.repeat(1_000_000),
      empty: '',
      'bin/run: 12:30': { mode: 0o755, content: 'run' },
      'bin/latest': { link: '../a.txt' },
      [long]: 'ü',
      large,
      exact,
      same: exact,
    })
    expect(await readFiles(id)).toEqual({
      'a.txt': `644 ${sha256('a'.repeat(1_000_000))}`,
      empty: `644 ${sha256('')}`,
      'bin/run: 12:30': `755 ${sha256('run')}`,
      'bin/latest': { link: '../a.txt' },
      [long]: `644 ${sha256('ü')}`,
      large: `644 ${sha256(large)}`,
      exact: `644 ${sha256(exact)}`,
      same: `644 ${sha256(exact)}`,
    })
  })

  it('may have deep paths, and links that lead through 40 other links', async () => {
    const chain = Array.from({ length: 41 }, (_, n) => [`l${n}`, { link: n < 40 ? `l${n + 1}` : 'a/../a' }] as const)
    const deep = `${'d/'.repeat(127)}e`
    const { id } = await storeSnapshot(domain, await newUser(), { ...Object.fromEntries(chain), [deep]: 'deep' })
    expect(await readFiles(id)).toMatchObject({ l0: { link: 'l1' }, [deep]: `644 ${sha256('deep')}` })
  })

  it('becomes an archive in which each folder is listed once, before its files, all with the same owner', async () => {
    const { id } = await storeSnapshot(domain, await newUser(), {
      'a/b/one': '1',
      'a/b/two': '2',
      'a/link': { link: 'b/one' },
      top: 'x',
    })
    const entries = await readEntries(id, { folder: 'work', uid: 7, gid: 8 })
    expect(entries.map(({ name }) => name)).toEqual([
      'work/',
      'work/a/',
      'work/a/b/',
      'work/a/b/one',
      'work/a/b/two',
      'work/a/link',
      'work/top',
    ])
    expect(new Set(entries.map(({ uid, gid }) => `${uid}:${gid}`))).toEqual(new Set(['7:8']))
  })

  it('is sent once; another snapshot sends only the contents that its user has not sent before', async () => {
    const [ann, ben] = [await newUser(), await newUser()]
    const first = await storeSnapshot(domain, ann, { a: 'one', b: 'two' })
    expect(first.sent).toHaveLength(2)
    expect(await storeSnapshot(domain, ann, { a: 'one', b: 'two' })).toEqual({ id: first.id, sent: [] })
    expect((await storeSnapshot(domain, ann, { a: 'one', b: 'three' })).sent).toEqual([sha256('three')])
    expect((await storeSnapshot(domain, ann, { c: 'one' })).sent).toEqual([])
    const other = await storeSnapshot(domain, ben, { a: 'one', b: 'two' })
    expect(other.sent).toHaveLength(2)
    expect(other.id).not.toBe(first.id)
  })

  it('can be used only in jobs of its user, and only when it is complete', async () => {
    const [ann, ben] = [await newUser(), await newUser()]
    const { id } = await storeSnapshot(domain, ann, { a: 'mine' })
    const list = makeFileList({ a: 'half', b: 'other half' })
    const half = await createSnapshot(domain, ann, list.announced, limits)
    await storeList(domain, { snapshotId: half.id, userId: ann.userId }, makeBody(list.text))
    await world.submit({ snapshot: id }, ann)
    await expect(world.submit({ snapshot: id }, ben)).rejects.toThrow(`Snapshot ${id} not found`)
    await expect(world.submit({ snapshot: id }, world.admin)).rejects.toThrow('not found')
    await expect(world.submit({ snapshot: half.id }, ann)).rejects.toThrow('is incomplete; upload its files first')
    await expect(world.submit({ snapshot: id, workdir: '/abs' }, ann)).rejects.toThrow(
      'Must be a folder of the snapshot',
    )
    await expect(world.submit({ snapshot: id, workdir: 'a/../..' }, ann)).rejects.toThrow('a folder of the snapshot')
    await expect(world.submit({ workdir: 'a' }, ann)).rejects.toThrow('Must be an absolute path')
  })

  it.each<[string, Record<string, Content>, string]>([
    ['an absolute path', { '/etc/passwd': 'x' }, 'list: "/etc/passwd" is an absolute path'],
    ['a path upwards', { 'a/../../b': 'x' }, '"a/../../b" leads outside of the folder'],
    ['a path with an empty part', { 'a//b': 'x' }, '"a//b" has an empty part'],
    ['a name with a line break', { 'a\nb': 'x' }, '"a\\nb" has a control character in its name'],
    ['a file below a file', { a: 'x', 'a/b': 'y' }, '"a/b" is below "a"'],
    ['a file below a link', { 'a/b/c': 'y', a: { link: 'd' } }, '"a/b/c" is below "a"'],
    ['an absolute link', { a: { link: '/etc' } }, '"a" is a link to the absolute path "/etc"'],
    ['a link upwards', { 'b/a': { link: '../../x' } }, '"b/a" is a link that leads outside of the folder'],
    [
      'a link upwards through a link',
      { 'x/y/z/top': { link: '../../..' }, out: { link: 'x/y/z/top/..' } },
      '"out" is a link that leads outside of the folder',
    ],
    ['a link to itself', { a: { link: 'a' } }, '"a" is a link that leads outside of the folder, or in a circle'],
    ['a path of 129 parts', { [`${'a/'.repeat(128)}b`]: 'x' }, 'a/b" has more than 128 parts'],
    ['a path of 3,501 bytes', { [`${`${'n'.repeat(99)}/`.repeat(35)}b`]: 'x' }, 'b" is longer than 3500 bytes'],
    ['a link to a path of 129 parts', { a: { link: '../'.repeat(128) } }, '"a" is a link to a path of more than 128'],
    [
      'links that lead to a path of 129 parts',
      { a: { link: `b${'/x'.repeat(64)}` }, b: { link: `c${'/x'.repeat(64)}` } },
      '"a" is a link that leads to a path of more than 128 parts',
    ],
    [
      'a path that leads through 41 links',
      Object.fromEntries(Array.from({ length: 42 }, (_, n) => [`l${n}`, { link: `l${n + 1}` }])),
      '"l0" is a link that leads outside of the folder, or in a circle',
    ],
    ['a name that is too long', { ['n'.repeat(256)]: 'x' }, 'has a name of more than 255 bytes'],
  ])('is refused for %s', async (_, files, message) => {
    await expect(storeSnapshot(domain, await newUser(), files)).rejects.toThrow(message)
  })

  it.each([
    ['a path that is listed twice', (text: string) => text + text.split('\n')[1], '"a" is listed twice', 2],
    [
      'more entries than announced',
      (text: string) => text + text.split('\n')[1]?.replace('"a"', '"b"'),
      'more than the announced 1',
      1,
    ],
    [
      'a different number of bytes than announced',
      (text: string) => text.replace('"size":1', '"size":9'),
      '9 bytes; 1 with 1 were announced',
      1,
    ],
    ['a line that is not JSON', (text: string) => `${text}{`, 'line 3 is not valid: "{"', 9],
    ['an unknown field', (text: string) => text.replace('"mode"', '"uid"'), 'line 2 is not valid', 1],
    [
      'a mode with the bit for another account',
      (text: string) => text.replace('420', '2541'),
      'line 2 is not valid',
      1,
    ],
  ])('is refused for %s', async (_, change, message, files) => {
    const text = change(makeFileList({ a: 'x' }).text)
    const ann = await newUser()
    const { id } = await createSnapshot(domain, ann, { hash: sha256(text), files, bytes: 1 }, limits)
    await expect(storeList(domain, { snapshotId: id, userId: ann.userId }, makeBody(text))).rejects.toThrow(message)
  })

  it('is refused as soon as it has more entries than announced, even if ten million follow', async () => {
    let came = 0
    async function* entries() {
      yield Buffer.from('{"git":null}\n')
      for (; came < 10_000_000; came++) yield Buffer.from(`{"path":"${came}","link":"x"}\n`)
    }
    const ann = await newUser()
    const { id } = await createSnapshot(domain, ann, { hash: sha256(''), files: 1_000, bytes: 1 }, limits)
    const stored = storeList(domain, { snapshotId: id, userId: ann.userId }, entries())
    await expect(stored).rejects.toThrow('more than the announced 1000 entries')
    expect(came).toBe(1_000)
  })

  it('is refused if it exceeds the limits, or if its list has another hash', async () => {
    const hash = sha256('')
    const ann = await newUser()
    const create = (files: number, bytes: number) => createSnapshot(domain, ann, { hash, files, bytes }, limits)
    await expect(create(50_001, 1)).rejects.toThrow('files: 50001 is above files.snapshotFilesMax, which is 50000')
    await expect(create(1, 2 ** 30 + 1)).rejects.toThrow('bytes: 1073741825 is above files.snapshotBytesMax')
    const { id } = await create(1, 1)
    const owner = { snapshotId: id, userId: ann.userId }
    await expect(storeList(domain, owner, makeBody(makeFileList({ a: 'x' }).text))).rejects.toThrow('another SHA-256')
  })

  it('is refused if the stored bytes of its user exceed the limit, unless it was already complete', async () => {
    const [ann, ben] = [await newUser(), await newUser()]
    const diff = '+1'.repeat(400)
    const { id } = await storeSnapshot(domain, ann, { a: 'four', b: 'more' }, { ...git, diff })
    const [lists] = await sql.query<{ bytes: number }>(
      'SELECT octet_length(list) AS bytes FROM snapshot WHERE id = $1',
      [id],
    )
    const used = 8 + 800 + (lists?.bytes ?? Number.NaN)
    const create = (files: Record<string, Content>, { by = ann, facts = null as object | null } = {}) =>
      createSnapshot(domain, by, makeFileList(files, facts).announced, { ...limits, userBytesMax: used + 2 })
    await expect(create({ c: 'new' })).rejects.toThrow(
      `bytes: 3 and the ${used} bytes of your stored files, their lists and uploads under way are above files.userBytesMax, which is ${used + 2}; snapshots that no job`,
    )
    expect(await create({ a: 'four', b: 'more' }, { facts: { ...git, diff } })).toMatchObject({ isComplete: true })
    expect(await create({ c: 'ne' })).toMatchObject({ isComplete: false })
    expect(await create({ c: 'new' }, { by: ben })).toMatchObject({ isComplete: false })
  })

  it('is refused if the stored bytes of its user and those of unfinished uploads exceed the limit', async () => {
    const ann = await newUser()
    await storeSnapshot(domain, ann, { a: 'known'.repeat(1_000) })
    const list = makeFileList({ a: 'known'.repeat(1_000), s: 'sent'.repeat(1_000), l: 'lacking'.repeat(1_000) })
    const { id } = await createSnapshot(domain, ann, list.announced, limits)
    const create = () =>
      createSnapshot(domain, ann, makeFileList({ n: 'n' }).announced, { ...limits, userBytesMax: 0 }).then(
        () => 0,
        (error) => Number(/the (\d+) bytes/.exec(String(error))?.[1]),
      )
    const before = await create()
    expect(before).toBeGreaterThan(21_000)
    await storeList(domain, { snapshotId: id, userId: ann.userId }, makeBody(list.text))
    const pack = makeBody(makeBlob('sent'.repeat(1_000)))
    await expect(storePack(domain, { snapshotId: id, userId: ann.userId }, pack)).rejects.toThrow('missing')
    expect(before - (await create())).toSatisfy((less: number) => less > 4_500 && less < 5_000) // 5,000 without the list
    await sql.query(`UPDATE snapshot SET unused_since = unused_since - interval '61 minutes' WHERE id = $1`, [id])
    expect(before - (await create())).toSatisfy((less: number) => less > 11_500 && less < 12_000)
  })

  it('is refused if its user has 100,000 snapshots', async () => {
    const full = withQuery(domain, async (inner, ...statement) => {
      const rows = await inner.query<Record<string, unknown>>(...statement)
      return rows.map((row) => ('snapshots' in row ? { ...row, snapshots: 100_000 } : row))
    })
    await expect(storeSnapshot(full, await newUser(), { a: '' })).rejects.toThrow(
      'You have 100000 snapshots, and at most 100000 are allowed',
    )
  })

  it('is refused if its user has 20 incomplete snapshots', async () => {
    const ann = await newUser()
    const create = (n: number) => createSnapshot(domain, ann, makeFileList({ a: String(n) }).announced, limits)
    const made = await Promise.allSettled(Array.from({ length: 22 }, (_, n) => create(n)))
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    expect(made.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: {
        message: expect.stringContaining('hash: You have 20 incomplete snapshots, and at most 20 are allowed'),
      },
    })
    const again = made.findIndex(({ status }) => status === 'fulfilled')
    expect(await create(again)).toMatchObject({ isComplete: false })
    await sql.query(`UPDATE snapshot SET unused_since = unused_since - interval '61 minutes' WHERE user_id = $1`, [
      ann.userId,
    ])
    expect(await create(30)).toMatchObject({ isComplete: false })
  })

  it('does not count as incomplete if its list was refused', async () => {
    const ann = await newUser()
    for (let n = 0; n < 21; n++) {
      const { announced } = makeFileList({ a: String(n) })
      const { id } = await createSnapshot(domain, ann, announced, limits)
      const owner = { snapshotId: id, userId: ann.userId }
      await expect(storeList(domain, owner, makeBody('{}\n'))).rejects.toThrow('another SHA-256')
      await expect(storeList(domain, owner, makeBody('{}\n'))).rejects.toThrow('not found')
    }
    expect((await storeSnapshot(domain, ann, { a: '0' })).sent).toHaveLength(1)
  })

  it.each<[string, (large: Buffer) => Buffer, string]>([
    [
      'a wrong hash',
      () => Buffer.concat([makeBlob('small').subarray(0, 67), Buffer.from('SMALL')]),
      '"s" has another SHA-256',
    ],
    [
      'a wrong hash of a large file',
      (large) => Buffer.concat([makeBlob(large).subarray(0, -1), Buffer.from('!')]),
      '"l" has another SHA-256',
    ],
    ['a body that ends early', (large) => makeBlob(large).subarray(0, 500_000), 'The body ends within "l"'],
    ['a missing blob', () => makeBlob('small'), 'The content of "l" is missing'],
    ['an empty body', () => Buffer.alloc(0), 'The content of "s" is missing'],
    ['a blob that is not listed', () => makeBlob('stranger'), 'is not in the list of the snapshot'],
    ['a blob twice', () => Buffer.concat([makeBlob('small'), makeBlob('small')]), 'was sent twice'],
    ['another size', () => Buffer.from(`${sha256('small')} 4\nsmal`), '"s" was sent with 4 bytes, but listed with 5'],
    ['no heading', () => Buffer.from('GET / HTTP/1.1\n'), 'A blob begins with "GET / HTTP/1.1\\n"'],
  ])('stays incomplete after an upload with %s', async (_, pack, message) => {
    const ann = await newUser()
    const large = randomBytes(700_000)
    const list = makeFileList({ s: 'small', l: large })
    const { id } = await createSnapshot(domain, ann, list.announced, limits)
    const owner = { snapshotId: id, userId: ann.userId }
    await storeList(domain, owner, makeBody(list.text))
    await expect(storePack(domain, owner, makeBody(pack(large)))).rejects.toThrow(message)
    await expect(world.submit({ snapshot: id }, ann)).rejects.toThrow('is incomplete')
    expect((await storeSnapshot(domain, ann, { s: 'small', l: large })).id).toBe(id)
    await world.submit({ snapshot: id }, ann)
    await sweepSnapshots(domain)
    expect(await countBlobs(sql, ann.userId)).toBe(2)
  })

  it('is complete after two concurrent uploads of the same files', async () => {
    const ann = await newUser()
    const files = { s: 'small', l: randomBytes(700_000) }
    const list = makeFileList(files)
    const { id } = await createSnapshot(domain, ann, list.announced, limits)
    const owner = { snapshotId: id, userId: ann.userId }
    await Promise.all([storeList(domain, owner, makeBody(list.text)), storeList(domain, owner, makeBody(list.text))])
    const pack = () => makeBody(makeBlob('small'), makeBlob(files.l))
    await Promise.all([storePack(domain, owner, pack()), storePack(domain, owner, pack())])
    expect(await readFiles(id)).toMatchObject({ l: `644 ${sha256(files.l)}` })
    await sweepSnapshots(domain)
    expect(await countBlobs(sql, ann.userId)).toBe(2)
  })

  it('accepts all contents that it asked for, also after its list was sent again', async () => {
    const ann = await newUser()
    const list = makeFileList({ a: 'one', b: 'two', c: 'three' })
    const { id } = await createSnapshot(domain, ann, list.announced, limits)
    const owner = { snapshotId: id, userId: ann.userId }
    expect(await storeList(domain, owner, makeBody(list.text))).toHaveLength(3)
    await expect(storePack(domain, owner, makeBody(makeBlob('one')))).rejects.toThrow('"b" is missing')
    expect(await storeList(domain, owner, makeBody(list.text))).toEqual([sha256('two'), sha256('three')])
    await storePack(domain, owner, makeBody(makeBlob('one'), makeBlob('two'), makeBlob('three')))
    expect(Object.keys(await readFiles(id))).toEqual(['a', 'b', 'c'])
  })
})
