import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { ClientLine } from '../../src/client/channel/client-line.ts'
import { kinds } from '../../src/client/channel/frames.ts'
import { sessionsPerUserMax } from '../../src/domain/control/sessions.ts'
import { deriveRunToken } from '../../src/domain/inside/run-tokens.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { Sessions } from '../../src/sessions/sessions.ts'
import { DownloadServer } from '../support/downloads.ts'
import { bearer, mutate, type Person, personWith } from '../support/people.ts'
import { until } from '../support/until.ts'
import { fakeExecutor, startJob } from './fake-executor.ts'

/** Who may open a session, and the tickets of sessions. */
const users = await DownloadServer.start({ reached: new Map([['sim', new Map([['local', fakeExecutor]])]]) })
afterAll(() => users.server[Symbol.asyncDispose]())
const { server, admin } = users

const open = (by: Person, jobId: string, command: readonly string[] = ['cat']) =>
  mutate(by, 'openSession', { input: { jobId, command }, wanted: 'url session { id }' })

const socketUrl = (path: string) => `${server.url.replace(/^http/, 'ws')}${path}`

/** The HTTP status of a connection, which is closed at once; 101: accepted. */
const connect = (path: string, headers: Record<string, string> = {}, secret: string[] = []) =>
  new Promise<number>((resolve) => {
    const socket = new WebSocket(socketUrl(path), ['berth-session', ...secret], { headers })
    socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode ?? 0))
    socket.on('error', () => undefined)
    socket.on('open', () => {
      socket.terminate()
      resolve(101)
    })
  })

const changeEnd = (text: string) => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`

let ann: Person & { tokenId: string }
let job: { jobId: string; runId: string }
beforeAll(async () => {
  ann = await users.researcher('ann')
  job = await startJob(server, ann)
})

describe('the ticket of a session', () => {
  it('can be used once, only by its user, and only unchanged', async () => {
    const { url } = await open(ann, job.jobId)
    const bob = await users.researcher('bob')
    expect(await connect(url, bearer(bob.token))).toBe(403)
    expect(await connect(url, bearer(await deriveRunToken(server.domain, job.runId)))).toBe(403)
    expect(await connect(changeEnd(url))).toBe(403)
    expect(await connect(url.replace(/session_\w+/, changeEnd))).toBe(403)
    expect(await connect(url, bearer(ann.token))).toBe(101)
    expect(await connect(url, bearer(ann.token))).toBe(403)
    expect(await connect(url, {}, ['A'.repeat(43)])).toBe(403)
  })

  it('can be used for 60 seconds', async () => {
    const { url } = await open(ann, job.jobId)
    await server.moveTime(61_000)
    expect(await connect(url)).toBe(403)
  })

  it('cannot be used after its token is revoked or its job has ended', async () => {
    const leaver = await users.researcher('leaver')
    const { url } = await open(leaver, (await startJob(server, leaver)).jobId)
    await mutate(admin, 'revokeToken', { input: { tokenId: leaver.tokenId } })
    expect(await connect(url)).toBe(403)
  })

  it('is refused without the subprotocol, or with the origin of another site', async () => {
    const { url } = await open(ann, job.jobId)
    expect(await connect(url, { origin: 'https://evil.example' })).toBe(403)
    const plain = new WebSocket(socketUrl(url))
    const status = await new Promise((resolve) =>
      plain.on('unexpected-response', (_, { statusCode }) => resolve(statusCode)),
    )
    expect(status).toBe(400)
  })
})

describe('a session', () => {
  it('ends within seconds after its token is revoked', async () => {
    const carol = await users.researcher('carol')
    const { url } = await open(carol, (await startJob(server, carol)).jobId)
    const line = new ClientLine({ url: socketUrl(url), take: () => undefined })
    expect(await line.secret).not.toBe('')
    await mutate(admin, 'revokeToken', { input: { tokenId: carol.tokenId } })
    expect(await line.ended).toEqual({ exitCode: null, reason: 'Your access has ended or changed' })
  })

  it('may be opened by the owner, and by an ADMIN whose token has the scope EXEC', async () => {
    const bob = await users.researcher('bert')
    expect(await open(bob, job.jobId)).toMatchObject({ __typename: 'NotFoundProblem' })
    expect(await open(admin, job.jobId)).toMatchObject({ __typename: 'OpenSessionSuccess' })
    const { secret } = await mutate(admin, 'createToken', {
      input: { name: 'narrow', scopes: ['READ', 'SUBMIT', 'OPERATE', 'ADMIN'] },
      wanted: 'secret',
    })
    expect(await open(personWith(server.url, secret), job.jobId)).toMatchObject({
      __typename: 'ForbiddenProblem',
      requiredScope: 'EXEC',
    })
  })

  it('may be opened by a LEAD only in jobs of own teams', async () => {
    const make = async (name: string, level: string) => {
      const { user } = await mutate(admin, 'createUser', { input: { name, level }, wanted: 'user { id }' })
      const input = { name: 't', userId: user.id }
      const { secret } = await mutate(admin, 'createToken', { input, wanted: 'secret' })
      return { id: user.id, person: personWith(server.url, secret) }
    }
    const [lead, other] = [await make('lead', 'LEAD'), await make('other', 'LEAD')]
    await mutate(admin, 'createTeam', { input: { name: 'ml' } })
    const { sql } = server.domain.db
    await sql.query(`INSERT INTO team_member (team_id, user_id) SELECT id, $1 FROM team WHERE name = 'ml'`, [lead.id])
    const { jobId } = await startJob(server, ann)
    await sql.query(`UPDATE job SET team_id = (SELECT id FROM team WHERE name = 'ml') WHERE id = $1`, [jobId])
    expect(await open(lead.person, jobId)).toMatchObject({ __typename: 'OpenSessionSuccess' })
    expect(await open(other.person, jobId)).toMatchObject({ requiredPermission: 'JOB_EXEC_ALL' })
    const { session } = await open(ann, jobId)
    const end = (by: Person) => mutate(by, 'endSession', { input: { sessionId: session.id } })
    expect(await end(other.person)).toMatchObject({ __typename: 'NotFoundProblem' })
    expect(await end(lead.person)).toMatchObject({ __typename: 'EndSessionSuccess' })
  })

  it('may have a command of up to 128 KiB, of which the audit log keeps 1,000 characters', async () => {
    const erin = await users.researcher('erin')
    const { jobId } = await startJob(server, erin)
    const word = 'é'.repeat(32_768)
    expect(await open(erin, jobId, [word, word, 'x'])).toMatchObject({
      __typename: 'InvalidInputProblem',
      message: expect.stringContaining('at most 131,072 bytes'),
    })
    const { session } = await open(erin, jobId, ['echo', word, word.slice(8)])
    const [entry] = await server.domain.db.sql.query<{ detail: { command: string[] } }>(
      'SELECT detail FROM audit_entry WHERE object_id = $1',
      [session.id],
    )
    expect(entry?.detail.command).toEqual(['echo', `${word.slice(0, 995)}…`, '…'])
  })

  it('is opened many times at once, and refused above the maximum per user', async () => {
    const dora = await users.researcher('dora')
    const { jobId } = await startJob(server, dora)
    const many = await Promise.all(Array.from({ length: sessionsPerUserMax - 1 }, () => open(dora, jobId)))
    expect(many.filter(({ __typename: type }) => type !== 'OpenSessionSuccess')).toEqual([])
    const last = await Promise.all([1, 2, 3].map(() => open(dora, jobId)))
    expect(last.map(({ __typename: type }) => type).toSorted()).toEqual([
      'OpenSessionSuccess',
      'QuotaExceededProblem',
      'QuotaExceededProblem',
    ])
  })

  it('passes the size of the terminal and signals on, and reports its number of bytes', async () => {
    const { url, session } = await open(ann, job.jobId, [
      'sh',
      '-c',
      'trap "echo INT; exit 5" INT; head -c 24; while :; do sleep 0.01; done',
    ])
    let out = ''
    const line = new ClientLine({
      url: socketUrl(url),
      take: (_kind, payload) => {
        out += Buffer.from(payload).toString()
      },
    })
    void line.sendJson(kinds.resize, { columns: 50, rows: 20 })
    await until(() => out === '{"columns":50,"rows":20}', { what: 'the size arrives' })
    void line.send(kinds.signal, Buffer.from('INT'))
    expect(await line.ended).toEqual({ exitCode: 5, reason: null })
    const read = () =>
      server.domain.db.sql.query<{ action: string; detail: object }>(
        'SELECT action, detail FROM audit_entry WHERE object_id = $1 ORDER BY at, action DESC',
        [session.id],
      )
    const entries = await until(async () => ((await read()).length === 2 ? read() : null), {
      what: 'the end is audited',
    })
    expect(entries).toEqual([
      {
        action: 'session.open',
        detail: expect.objectContaining({ jobId: job.jobId, run: 1, command: expect.any(Array) }),
      },
      { action: 'session.close', detail: expect.objectContaining({ bytesOut: 28, bytesIn: 0, exitCode: 5 }) },
    ])
  })
})

describe('a server that stops', () => {
  it('ends its commands although its database does not respond, and opens no session', async () => {
    const { url } = await open(ann, job.jobId)
    const { url: other } = await open(ann, job.jobId)
    const { sql } = server.domain.db
    const silent = {
      query: (text: string, values?: unknown[]) =>
        text.includes('WITH reported') ? new Promise(() => undefined) : sql.query(text, values),
    }
    const db = Object.create(server.domain.db, { sql: { value: silent } })
    let isEnded = false
    const process = { ...(await fakeExecutor.exec?.('h', { command: ['cat'], size: null, unixUser: null })) }
    const end = () => {
      isEnded = true
      process.end?.()
    }
    const executor = { ...fakeExecutor, exec: async () => ({ ...process, end }) } as unknown as Executor
    const sessions = new Sessions({ ...server.domain, db }, new Map([['sim', new Map([['local', executor]])]]))
    const begin = (path: string) => sessions.begin({ ticket: path.slice('/session/'.length), ip: null, userId: null })
    const live = await begin(url)
    expect(live).not.toBeNull()
    sessions.start()
    const late = begin(other)
    void sessions.close()
    await until(() => isEnded, { what: 'the command is ended' })
    expect(await late).toBeNull()
    expect(await begin(other)).toBeNull()
    await live?.over
  })
})
