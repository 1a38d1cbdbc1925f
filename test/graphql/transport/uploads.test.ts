import { afterAll, describe, expect, it } from 'vitest'
import { limits } from '../../../src/graphql/caller-limits.ts'
import { DownloadServer } from '../../support/downloads.ts'
import { mutate, type Person } from '../../support/people.ts'
import { makeBlob, makeFileList, sha256 } from '../../support/snapshots.ts'

const world = await DownloadServer.start()
afterAll(() => world.server[Symbol.asyncDispose]())
const { server, admin } = world

const create = (person: Person, announced: object) =>
  mutate(person, 'createSnapshot', { input: announced, wanted: 'uploadUrl snapshot { id completedAt }' })

async function put(path: string, body: string | Buffer, method = 'PUT') {
  const response = await fetch(new URL(path, server.url), {
    method,
    body: typeof body === 'string' ? body : new Uint8Array(body),
  })
  return { status: response.status, body: await response.json() }
}

let contents = 0
const newList = () => makeFileList({ a: `content ${++contents}` })

describe('an upload of a snapshot', () => {
  it('accepts the file list, then the missing blobs, and completes the snapshot', async () => {
    const list = makeFileList({ a: 'one', b: 'two' })
    const made = await create(admin, list.announced)
    expect(made.snapshot.completedAt).toBeNull()
    const listed = await put(made.uploadUrl, list.text)
    expect(listed).toMatchObject({ status: 200, body: { missing: [sha256('one'), sha256('two')] } })
    const packed = await put(listed.body.uploadUrl, Buffer.concat([makeBlob('two'), makeBlob('one')]))
    expect(packed).toEqual({ status: 200, body: { missing: [], uploadUrl: null } })
    const again = await create(admin, list.announced)
    expect(again).toMatchObject({ uploadUrl: null, snapshot: { id: made.snapshot.id } })
    expect(again.snapshot.completedAt).not.toBeNull()
  })

  it('refuses lists as they arrive, and takes others afterwards', async () => {
    const by = await world.researcher('sender')
    for (let n = 0; n < limits.uploadsInFlightMax + 1; n++) {
      const { text, announced } = makeFileList({ a: `a${n}`, b: 'b', c: 'c' })
      const { uploadUrl } = await create(by, { ...announced, files: 1 })
      expect(await put(uploadUrl, text)).toMatchObject({
        status: 400,
        body: { errors: [{ message: expect.stringContaining('more than the announced 1 entries') }] },
      })
    }
    const list = newList()
    const { uploadUrl } = await create(by, list.announced)
    expect((await put(uploadUrl, list.text)).status).toBe(200)
  })

  it('does not reveal to a user which contents another user has sent', async () => {
    const [ann, ben] = [await world.researcher('ann'), await world.researcher('ben')]
    const list = newList()
    for (const person of [ann, ben]) {
      const { uploadUrl } = await create(person, list.announced)
      expect((await put(uploadUrl, list.text)).body.missing).toHaveLength(1)
    }
    const { uploadUrl, snapshot } = await create(ann, list.announced)
    const listed = await put(uploadUrl, list.text)
    await put(listed.body.uploadUrl, makeBlob(`content ${contents}`))
    const ofBen = await create(ben, list.announced)
    expect(ofBen.snapshot.id).not.toBe(snapshot.id)
    expect((await put(ofBen.uploadUrl, list.text)).body.missing).toHaveLength(1)
    expect(await ben.data(`{ node(id: "${snapshot.id}") { id } }`)).toEqual({ node: null })
    expect(await ann.data(`{ node(id: "${snapshot.id}") { id } }`)).toEqual({ node: { id: snapshot.id } })
  })

  it('needs a URL that is unused, for this part, at most five minutes old, and of a user with access', async () => {
    const by = await world.researcher('leaver')
    const list = newList()
    const first = await create(by, list.announced)
    const other = first.uploadUrl.replace('/list/', '/blobs/')
    expect((await put(other, list.text)).status).toBe(403)
    expect((await put(first.uploadUrl, list.text)).status).toBe(200)
    expect(await put(first.uploadUrl, list.text)).toMatchObject({
      status: 403,
      body: {
        errors: [
          {
            message:
              'The ticket is of another upload, was used, or its time is over; ask createSnapshot for another one',
          },
        ],
      },
    })
    const late = await create(by, list.announced)
    await server.moveTime(301_000)
    expect((await put(late.uploadUrl, list.text)).status).toBe(403)
    const revoked = await create(by, list.announced)
    await mutate(admin, 'revokeToken', { input: { tokenId: by.tokenId } })
    expect((await put(revoked.uploadUrl, list.text)).status).toBe(403)
  })

  it('refuses a body that differs from the file list, with the name of the file', async () => {
    const list = newList()
    const made = await create(admin, list.announced)
    const listed = await put(made.uploadUrl, list.text)
    const answer = await put(listed.body.uploadUrl, makeBlob('stranger'))
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ extensions: { code: 'BAD_REQUEST' } }] } })
    expect(answer.body.errors[0].message).toContain(
      'is not in the list of the snapshot, was sent twice, or was stored before',
    )
    const hostile = makeFileList({ '../a': 'x' })
    const { uploadUrl } = await create(admin, hostile.announced)
    expect((await put(uploadUrl, hostile.text)).body.errors[0].message).toBe('list: "../a" leads outside of the folder')
  })

  it('refuses other methods and URLs', async () => {
    expect(await put('/upload/x', '')).toMatchObject({ status: 404 })
    expect(await put('/upload/x', '', 'POST')).toMatchObject({ status: 405 })
  })
})
