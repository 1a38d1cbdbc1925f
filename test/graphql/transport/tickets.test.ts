import { randomBytes } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { newId } from '../../../src/domain/ids.ts'
import { DownloadServer, logPath } from '../../support/downloads.ts'
import { err, out } from '../../support/log.ts'
import { mutate, type Person } from '../../support/people.ts'

const downloads = await DownloadServer.start()
afterAll(() => downloads.server[Symbol.asyncDispose]())
const { server, admin } = downloads
const get = downloads.get.bind(downloads)
const withToken = downloads.withToken.bind(downloads)
const jobWithLog = downloads.jobWithLog.bind(downloads)

describe('a download ticket', () => {
  const create = async (person: Person, input: object) =>
    mutate(person, 'createDownload', { input, wanted: 'url expiresAt' })

  it('permits the download of its file without a token', async () => {
    const id = await jobWithLog([[out('raw'), err('!')]])
    const made = await create(admin, { log: { jobId: id, run: 1 } })
    expect(made.url).toMatch(/^\/download\/jobs\/job_\w+\/log\?run=1&streams=stdout%2Cstderr&format=raw&ticket=/)
    expect((await get(made.url)).bytes.toString()).toBe('raw!')
    expect((await get(made.url, { headers: { range: 'bytes=2-' } })).bytes.toString()).toBe('w!')
    expect((await get(made.url, withToken())).status).toBe(200)
  })

  it('is refused for another file or another user, and if it was changed', async () => {
    const by = await downloads.researcher('ticket-holder')
    const [id, other] = [await jobWithLog([[out('x')]], by), await jobWithLog([[out('y')]], by)]
    const { url } = await create(by, { log: { jobId: id } })
    const ticket = String(new URL(url, server.url).searchParams.get('ticket'))
    const [payload = '', mac = ''] = ticket.split('.')
    const [, token, expires] = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const { viewer } = await admin.data('{ viewer { user { id } } }')
    const forged = Buffer.from(JSON.stringify([viewer.user.id, token, expires])).toString('base64url')
    const later = Buffer.from(JSON.stringify([viewer.user.id, token, expires + 1])).toString('base64url')
    const attempts = [
      url.replace(id, other),
      url.replace('format=raw', 'format=jsonl'),
      `${url}x`,
      url.replace(payload, forged),
      url.replace(payload, later),
      url.replace(mac, mac.toLowerCase()),
      logPath(id, '?ticket='),
    ]
    for (const each of attempts) expect([each, (await get(each)).status]).toEqual([each, 403])
    expect((await get(url, withToken())).status).toBe(403)
    expect((await get(url)).status).toBe(200)
  })

  it('expires with the token that created it', async () => {
    const by = await downloads.researcher('leaver')
    const { url } = await create(by, { log: { jobId: await jobWithLog([[out('x')]], by) } })
    expect((await get(url)).status).toBe(200)
    await mutate(admin, 'revokeToken', { input: { tokenId: by.tokenId } })
    expect((await get(url)).status).toBe(403)
  })

  it('expires after five minutes', async () => {
    const { url, expiresAt } = await create(admin, { log: { jobId: await jobWithLog([[out('x')]]) } })
    expect(Date.parse(expiresAt) - server.domain.time.nowMs()).toBeGreaterThan(290_000)
    await server.moveTime(301_000)
    expect((await get(url)).status).toBe(403)
  })

  it('is created only for jobs and artifacts that its user may see', async () => {
    const by = await downloads.researcher('curious')
    const id = await jobWithLog([[out('x')]])
    expect(await create(by, { log: { jobId: id } })).toMatchObject({ __typename: 'NotFoundProblem' })
    expect(await create(by, { artifactId: 'artifact_00000000000000000000000000' })).toMatchObject({ code: 'NOT_FOUND' })
  })

  it.each([
    [{ log: { jobId: 'job_1', run: 0 } }, 'run'],
    [{ log: { jobId: 'job_1', streams: [] } }, 'streams'],
  ])('is refused for the input %j', async (input, path) => {
    const refused = await create(admin, input)
    expect(refused).toMatchObject({ __typename: 'InvalidInputProblem' })
    expect(refused.violations[0].path.at(-1)).toBe(path)
  })
})

describe('the download of an artifact', () => {
  async function artifact(fields: { name: string; mediaType: string; uri?: string; body?: string }): Promise<string> {
    const jobId = await jobWithLog([])
    const id = newId('artifact', server.domain.time.nowMs())
    const { name, mediaType, uri = null, body = null } = fields
    await server.domain.db.sql.query(
      `INSERT INTO artifact (id, job_id, seq, run_id, run, name, media_type, uri, body, size_bytes, hash)
       SELECT $1, job_id, 99, id, number, $3, $4, $5, $6, octet_length($6::text), $7 FROM run WHERE job_id = $2`,
      [id, jobId, name, mediaType, uri, body, randomBytes(32)],
    )
    return id
  }

  it('contains the artifact, with headers that prevent its execution in a page', async () => {
    const id = await artifact({ name: '../bericht "ü".html', mediaType: 'text/html', body: '<script>größe</script>' })
    const got = await get(`/download/artifacts/${id}`, withToken())
    expect(got.bytes.toString()).toBe('<script>größe</script>')
    expect(got.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="__bericht ___.html"; filename*=UTF-8\'\'__bericht%20_%C3%BC_.html',
      'content-security-policy': "sandbox; default-src 'none'",
    })
    const part = await get(`/download/artifacts/${id}`, withToken({ headers: { range: 'bytes=0-6' } }))
    expect(part).toMatchObject({ status: 206, bytes: Buffer.from('<script') })
    const { url } = await mutate(admin, 'createDownload', { input: { artifactId: id }, wanted: 'url' })
    expect((await get(url)).bytes).toEqual(got.bytes)
  })

  it.each([
    ['text/javascript', 'application/octet-stream'],
    ['image/svg+xml', 'application/octet-stream'],
    ['text/plain; charset=utf-8', 'text/plain'],
    ['Application/JSON', 'application/json'],
    ['image/png', 'image/png'],
  ])('of an artifact with the media type %s has the Content-Type %s', async (mediaType, type) => {
    const id = await artifact({ name: 'a', mediaType, body: 'alert(1)' })
    const got = await get(`/download/artifacts/${id}`, withToken())
    expect(got.headers['content-type']).toBe(type)
  })

  it('is refused if the artifact is a URI', async () => {
    const id = await artifact({ name: 'model', mediaType: 'application/x-model', uri: 's3://bucket/model' })
    const got = await get(`/download/artifacts/${id}`, withToken())
    expect(got.status).toBe(404)
    expect(got.bytes.toString()).toContain('read its `uri` instead')
  })
})
