import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, request as send } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { deriveRunToken } from '../../src/domain/inside/run-tokens.ts'
import { DownloadServer } from '../support/downloads.ts'
import { bearer, mutate, type Person, personWith } from '../support/people.ts'
import { until } from '../support/until.ts'
import { fakeExecutor, startJob } from './fake-executor.ts'

/** Ports of jobs as pages: `fakeExecutor` reaches the ports of this machine. */
const users = await DownloadServer.start({
  config: { jobsHost: 'jobs.test' },
  reached: new Map([['sim', new Map([['local', fakeExecutor]])]]),
})
afterAll(() => users.server[Symbol.asyncDispose]())
const { server, admin } = users
const base = new URL(server.url)

let ann: Person & { tokenId: string }
let job: { jobId: string; runId: string }
let page: Server
let port: number
const seen: IncomingMessage[] = []

beforeAll(async () => {
  ann = await users.researcher('ann')
  job = await startJob(server, ann)
  page = createServer((request, response) => {
    seen.push(request)
    const given = [
      ...['theme=dark; Domain=jobs.test; Path=/', 'berth-port=stolen', 'a=b; HttpOnly'],
      '__Host-berth-port=stolen; Path=/; Secure',
    ]
    response
      .setHeader('set-cookie', given)
      .setHeader('clear-site-data', '"cookies"')
      .setHeader('x-accel-redirect', '/etc')
    if (request.url === '/redirect') return void response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
    if (request.url === '/slow') return void response.writeHead(200).write('begun')
    response.write('you sent ')
    request.pipe(response)
  })
  const echo = new WebSocketServer({ server: page, path: '/socket' })
  echo.on('connection', (socket) => socket.on('message', (data) => socket.send(`echo ${data}`)))
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
  port = (page.address() as AddressInfo).port
})
afterAll(() => {
  page.closeAllConnections()
  page.close()
})

const nameOf = (jobId: string, at = port) => `${jobId.slice(4)}-${at}.jobs.test`

interface Got {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

function get(
  host: string,
  path: string,
  {
    headers = {},
    method = 'GET',
    body,
  }: { headers?: Record<string, string>; method?: string; body?: string | Buffer } = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const options = { host: base.hostname, port: base.port, path, method, headers: { host, ...headers }, agent: false }
    const request = send(options, async (response) => {
      const parts: Buffer[] = []
      try {
        for await (const part of response) parts.push(part)
      } catch {
        parts.push(Buffer.from(' cut'))
      }
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(parts).toString() })
    })
    request.on('error', reject)
    request.end(body)
  })
}

const openTicket = async (by: Person, jobId: string, at = port): Promise<string> => {
  const { url } = await mutate(by, 'openForward', { input: { jobId, port: at }, wanted: 'url session { id }' })
  return `/.berth/${String(url).replace(/^.*\//, '')}`
}

/** The cookie of an opened port. */
async function openPage(by: Person, jobId: string, at = port): Promise<string> {
  const { status, headers } = await get(nameOf(jobId, at), await openTicket(by, jobId, at))
  expect(status).toBe(303)
  const [cookie = ''] = headers['set-cookie'] ?? []
  expect(cookie).toMatch(/^berth-port=session_\w+\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
  return cookie.split(';')[0] ?? ''
}

function openSocket(host: string, headers: Record<string, string>): Promise<WebSocket | number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://${base.host}/socket`, { headers: { host, ...headers } })
    socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode ?? 0))
    socket.on('error', () => resolve(0))
    socket.on('open', () => resolve(socket))
  })
}

describe('the page of a port', () => {
  it('passes requests and WebSockets on in both directions, and hides the cookie of Berth from the job', async () => {
    const cookie = await openPage(ann, job.jobId)
    const name = nameOf(job.jobId)
    const body = Buffer.alloc(3_000_000, 'x')
    const got = await get(name, '/echo?a=b', { method: 'POST', headers: { cookie: `own=1; ${cookie}; z=2` }, body })
    expect(got.status).toBe(200)
    expect(got.text).toBe(`you sent ${body}`)
    const request = seen.at(-1)
    expect(request?.url).toBe('/echo?a=b')
    expect(request?.headers).toMatchObject({ host: name, cookie: 'own=1; z=2', 'x-forwarded-proto': 'http' })
    const socket = await openSocket(name, { cookie, origin: `http://${name}` })
    if (typeof socket === 'number') throw new Error(`refused with ${socket}`)
    const answer = new Promise((resolve) => socket.once('message', (data) => resolve(String(data))))
    socket.send('hello')
    expect(await answer).toBe('echo hello')
    socket.close()
  })

  it('passes cookies of the job on under its own host name', async () => {
    const cookie = await openPage(ann, job.jobId)
    const { headers } = await get(nameOf(job.jobId), '/', { headers: { cookie } })
    expect(headers['set-cookie']).toEqual([
      'theme=dark; Path=/',
      'a=b; HttpOnly',
      '__Host-berth-port=stolen; Path=/; Secure',
    ])
    expect(headers).not.toHaveProperty('clear-site-data')
    expect(headers).not.toHaveProperty('x-accel-redirect')
    expect(headers).not.toHaveProperty('x-content-type-options')
    expect(headers['cache-control']).toBe('private')
  })

  it('serves nothing else of the server under its host name, and is not served under that of the server', async () => {
    const cookie = await openPage(ann, job.jobId)
    for (const host of [
      'jobs.test',
      'www.jobs.test',
      'JOBS.test.',
      `${job.jobId.slice(4)}-0.jobs.test`,
      `x.${nameOf(job.jobId)}`,
    ])
      for (const path of ['/', '/graphql', '/healthz', '/metrics', '/jobs'])
        expect({ host, path, status: (await get(host, path, { headers: { cookie } })).status }).toEqual({
          host,
          path,
          status: 404,
        })
    expect((await get(nameOf(job.jobId), '/graphql', { headers: { cookie } })).text).toBe('you sent ')
    expect((await get(nameOf(job.jobId), '/graphql', { headers: bearer(ann.token) })).status).toBe(403)
    const asked = await get(base.host, '/graphql?query={viewer{id}}', { headers: { cookie } })
    expect(asked.text).toContain('UNAUTHENTICATED')
  })

  it('uses few connections to the job, each for several requests', async () => {
    const cookie = await openPage(ann, job.jobId)
    const before = new Set(seen.map(({ socket }) => socket))
    const ask = () => get(nameOf(job.jobId), '/', { method: 'POST', headers: { cookie }, body: 'x' })
    for (let sent = 0; sent < 5; sent++) expect((await ask()).text).toBe('you sent x')
    const isNew = ({ socket }: IncomingMessage) => !before.has(socket)
    expect(new Set(seen.filter(isNew).map(({ socket }) => socket)).size).toBe(1)
    const all = await Promise.all(Array.from({ length: 20 }, ask))
    expect(all.map(({ text }) => text)).toEqual(Array.from({ length: 20 }, () => 'you sent x'))
    const used = new Set(seen.filter(isNew).map(({ socket }) => socket))
    expect(used.size).toBeLessThanOrEqual(6)
    await until(() => [...used].every(({ destroyed }) => destroyed), { what: 'idle connections are closed' })
    expect((await ask()).text).toBe('you sent x')
  })

  it('never leads to another address, neither by its path nor by a redirect of the job', async () => {
    const cookie = await openPage(ann, job.jobId)
    const ask = (path: string) => get(nameOf(job.jobId), path, { headers: { cookie } })
    expect((await ask('//169.254.169.254/latest')).text).toBe('you sent ')
    expect((await ask('http://169.254.169.254/latest')).status).toBe(404)
    const got = await ask('/redirect')
    expect([got.status, got.headers.location]).toEqual([302, 'http://169.254.169.254/'])
  })

  it('explains why the port cannot be reached', async () => {
    const cookie = await openPage(ann, job.jobId, 1)
    const got = await get(nameOf(job.jobId, 1), '/', { headers: { cookie } })
    expect(got.status).toBe(502)
    expect(got.headers['x-content-type-options']).toBe('nosniff')
    const refused = await get(nameOf(job.jobId, 1), '/')
    expect(refused.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' })
  })

  it.each([
    ['a status that does not exist', 'HTTP/1.1 099 no\r\ncontent-length: 500\r\n\r\n'],
    ['a status text with control characters', 'HTTP/1.1 200 \u0001\u007f\r\ncontent-length: 0\r\n\r\n'],
    ['a status 101 without a requested upgrade', 'HTTP/1.1 101 go\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['a protocol that is not HTTP', 'SSH-2.0-OpenSSH\r\n'],
    ['half of the announced body', 'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nhalf'],
  ])('survives a response with %s', async (_, answer) => {
    const hostile = createTcpServer((socket) => socket.on('error', () => undefined).end(answer))
    await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve))
    const { port: at } = hostile.address() as AddressInfo
    const cookie = await openPage(ann, job.jobId, at)
    const { status, text } = await get(nameOf(job.jobId, at), '/', { headers: { cookie } })
    expect([200, 502]).toContain(status)
    expect(text).not.toContain('you sent')
    expect(typeof (await openSocket(nameOf(job.jobId, at), { cookie }))).toBe('number')
    expect((await get(base.host, '/healthz')).status).toBe(200)
    hostile.close()
  })
})

describe('the page of a port refuses', () => {
  it('a ticket that was used, is late, was changed or belongs to another job', async () => {
    const name = nameOf(job.jobId)
    const ticket = await openTicket(ann, job.jobId)
    const other = await startJob(server, ann)
    expect((await get(nameOf(other.jobId), ticket)).status).toBe(403)
    expect((await get(nameOf(job.jobId, port - 1), ticket)).status).toBe(403)
    expect((await get(name, `${ticket.slice(0, -1)}${ticket.endsWith('0') ? '1' : '0'}`)).status).toBe(403)
    expect((await get(name, ticket, { method: 'POST' })).status).toBe(405)
    expect((await get(name, ticket)).status).toBe(303)
    expect((await get(name, ticket)).status).toBe(403)
    const { url } = await mutate(ann, 'openSession', { input: { jobId: job.jobId, command: ['cat'] }, wanted: 'url' })
    expect((await get(name, `/.berth/${String(url).replace(/^.*\//, '')}`)).status).toBe(403)
    const late = await openTicket(ann, job.jobId)
    await server.moveTime(61_000)
    expect((await get(name, late)).status).toBe(403)
  })

  it('a cookie of another job or port, the token of a run, and another user', async () => {
    const cookie = await openPage(ann, job.jobId)
    const other = await startJob(server, ann)
    expect((await get(nameOf(other.jobId), '/', { headers: { cookie } })).status).toBe(403)
    expect((await get(nameOf(job.jobId, port - 1), '/', { headers: { cookie } })).status).toBe(403)
    for (const changed of [`${cookie}x`, cookie.replace(/.$/, 'é')])
      expect((await get(nameOf(job.jobId), '/', { headers: { cookie: changed } })).status).toBe(403)
    expect((await get(nameOf(job.jobId), '/')).status).toBe(403)
    const run = personWith(server.url, await deriveRunToken(server.domain, job.runId))
    await expect(mutate(run, 'openForward', { input: { jobId: job.jobId, port } })).rejects.toThrow(
      'The token of a run',
    )
    const bob = await users.researcher('bob')
    expect(await mutate(bob, 'openForward', { input: { jobId: job.jobId, port } })).toMatchObject({
      __typename: 'NotFoundProblem',
    })
  })

  it('requests with its cookie from the pages of other jobs, which belong to the same site', async () => {
    const cookie = await openPage(ann, job.jobId)
    const name = nameOf(job.jobId)
    const status = async (headers: Record<string, string>, method = 'GET') =>
      (await get(name, '/', { method, headers: { cookie, ...headers } })).status
    const evil = 'http://evil-1.jobs.test'
    expect(await status({ origin: evil })).toBe(403)
    expect(await status({ origin: evil }, 'POST')).toBe(403)
    expect(await status({ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' })).toBe(403)
    const frame = { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }
    expect(await status(frame)).toBe(403)
    expect(await status({ ...frame, 'sec-fetch-dest': 'document' })).toBe(200)
    expect(await openSocket(name, { cookie, origin: evil })).toBe(403)
  })
})

describe('the page of a port ends', () => {
  it('with its open requests within seconds after its token is revoked', async () => {
    const carol = await users.researcher('carol')
    const own = await startJob(server, carol)
    const cookie = await openPage(carol, own.jobId)
    const slow = get(nameOf(own.jobId), '/slow', { headers: { cookie } })
    const socket = await openSocket(nameOf(own.jobId), { cookie })
    if (typeof socket === 'number') throw new Error(`refused with ${socket}`)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const startMs = performance.now()
    await mutate(admin, 'revokeToken', { input: { tokenId: carol.tokenId } })
    await closed
    expect((await slow).text).toBe('begun cut')
    expect(performance.now() - startMs).toBeLessThan(5_000)
    expect((await get(nameOf(own.jobId), '/', { headers: { cookie } })).status).toBe(403)
  })

  it('with the run, and at the end of its session, which is audited with its number of bytes', async () => {
    const own = await startJob(server, ann)
    const cookie = await openPage(ann, own.jobId)
    await get(nameOf(own.jobId), '/', { method: 'POST', headers: { cookie }, body: 'seven b' })
    const [, sessionId = ''] = /=(session_\w+)/.exec(cookie) ?? []
    await mutate(ann, 'endSession', { input: { sessionId } })
    const isOver = async (of: string) => (await get(nameOf(own.jobId), '/', { headers: { cookie: of } })).status === 403
    const readClose = () =>
      server.domain.db.sql.query<{ detail: object }>(
        `SELECT detail FROM audit_entry WHERE object_id = $1 AND action = 'session.close'`,
        [sessionId],
      )
    const [entry] = await until(async () => ((await readClose()).length > 0 ? readClose() : null), {
      what: 'the end is audited',
    })
    // A request before the end would add its bytes.
    expect(await isOver(cookie)).toBe(true)
    expect(entry?.detail).toMatchObject({ jobId: own.jobId, bytesIn: 7, bytesOut: 16 })
    const events = await server.domain.db.sql.query<{ type: string; message: string; actor: string }>(
      `SELECT e.type, e.message, u.name AS actor FROM event e JOIN "user" u ON u.id = e.actor_id
       WHERE e.job_id = $1 AND e.type LIKE 'SESSION%' ORDER BY e.seq`,
      [own.jobId],
    )
    expect(events).toEqual([
      { type: 'SESSION_OPENED', message: `port ${port}`, actor: 'ann' },
      {
        type: 'SESSION_ENDED',
        message: expect.stringMatching(new RegExp(`^port ${port}, [\\d.]+ s, 7 bytes in, 16 bytes out$`)),
        actor: 'ann',
      },
    ])
    const second = await openPage(ann, own.jobId)
    await server.domain.db.sql.query(`UPDATE run SET state = 'SUCCEEDED', finished_at = berth_now() WHERE id = $1`, [
      own.runId,
    ])
    await until(() => isOver(second), { what: 'the page ends with its run' })
  })

  it('when its user leaves the team of the job, and when the pool forbids sessions', async () => {
    const { sql } = server.domain.db
    const own = await startJob(server, ann)
    const mia = await users.researcher('mia')
    await sql.query(`UPDATE "user" SET level = 'LEAD' WHERE name = 'mia'`)
    await sql.query(`INSERT INTO team (id, name, account) VALUES ('team_1', 'vision', 'vision')`)
    await sql.query(`INSERT INTO team_member (team_id, user_id) SELECT 'team_1', id FROM "user" WHERE name = 'mia'`)
    await sql.query(`UPDATE job SET team_id = 'team_1' WHERE id = $1`, [own.jobId])
    const [hers, his] = [await openPage(mia, own.jobId), await openPage(ann, own.jobId)]
    const status = async (cookie: string) => (await get(nameOf(own.jobId), '/', { headers: { cookie } })).status
    expect([await status(hers), await status(his)]).toEqual([200, 200])
    await sql.query(`DELETE FROM team_member`)
    await until(async () => (await status(hers)) === 403, { what: 'the page of the former member ends' })
    expect(await status(his)).toBe(200)
    await sql.query(`UPDATE pool SET exec = false WHERE name = 'sim'`)
    await until(async () => (await status(his)) === 403, { what: 'the page in the pool ends' })
    await sql.query(`UPDATE pool SET exec = true WHERE name = 'sim'`)
  })

  it('in its first session when the same browser opens it again', async () => {
    const first = await openPage(ann, job.jobId)
    const { headers } = await get(nameOf(job.jobId), await openTicket(ann, job.jobId), { headers: { cookie: first } })
    const second = headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    const status = async (cookie: string) => (await get(nameOf(job.jobId), '/', { headers: { cookie } })).status
    expect(await status(first)).toBe(403)
    expect(await status(second)).toBe(200)
  })
})
