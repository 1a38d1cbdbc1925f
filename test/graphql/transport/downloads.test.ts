import { createHash, randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { unpackTar } from 'modern-tar'
import { afterAll, describe, expect, it } from 'vitest'
import { collectOutputs } from '../../../src/domain/outputs/collect.ts'
import { limits } from '../../../src/graphql/caller-limits.ts'
import { formatDisposition } from '../../../src/graphql/transport/downloads.ts'
import type { LogPiece } from '../../../src/logs/chunk.ts'
import { DownloadServer, logPath, type Wish } from '../../support/downloads.ts'
import { err, out } from '../../support/log.ts'
import { bearer } from '../../support/people.ts'
import { until } from '../../support/until.ts'

const downloads = await DownloadServer.start()
afterAll(() => downloads.server[Symbol.asyncDispose]())
const { server, admin } = downloads
const get = downloads.get.bind(downloads)
const withToken = downloads.withToken.bind(downloads)
const jobWithLog = downloads.jobWithLog.bind(downloads)
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Output of both streams that does not compress, with a gap. */
const outParts = Array.from({ length: 20 }, () => randomBytes(150_000))
const errParts = outParts.map((_, at) => Buffer.from(`error ${at}\n`))
const bothParts = outParts.flatMap((part, at) => [part, errParts[at] as Buffer])
const largeLog = outParts.map((part, at): LogPiece[] => [
  out(part),
  { stream: 'STDERR', bytes: errParts[at] as Buffer },
  ...(at === 7 ? [{ gap: 'LOST', bytes: 1_000 } as const] : []),
])

describe('the download of a log', () => {
  it('contains every stored byte of the requested streams', async () => {
    const id = await jobWithLog(largeLog)
    const all = await get(logPath(id), withToken())
    expect(all.status).toBe(200)
    expect(hash(all.bytes)).toBe(hash(Buffer.concat(bothParts)))
    expect(all.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': String(all.bytes.length),
      'content-disposition': `attachment; filename="${id}.log"; filename*=UTF-8''${id}.log`,
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    })
    const errors = await get(logPath(id, '?run=1&streams=stderr'), withToken())
    expect(errors.bytes.toString()).toBe(Buffer.concat(errParts).toString())
    expect(errors.headers.etag).not.toBe(all.headers.etag)
    const head = await get(logPath(id), withToken({ method: 'HEAD' }))
    expect(head.bytes).toHaveLength(0)
    expect(head.headers).toMatchObject({ etag: all.headers.etag, 'content-length': all.headers['content-length'] })
    expect((await get(logPath(id, '?run=2'), withToken())).bytes).toHaveLength(0)
  })

  it.each(['', '?streams=stderr', '?streams=stdout,stderr,system&run=1'])(
    'can be resumed after an interruption: log%s',
    async (more) => {
      const id = await jobWithLog(largeLog)
      const path = logPath(id, more)
      const whole = await get(path, withToken())
      for (const cutAfter of [1, 70, 180]) {
        const first = await get(path, withToken({ cutAfter: Math.min(cutAfter * 12_345, whole.bytes.length - 1) }))
        const { length } = first.bytes
        const rest = await get(
          path,
          withToken({ headers: { range: `bytes=${length}-`, 'if-range': String(first.headers.etag) } }),
        )
        expect(rest.status).toBe(206)
        expect(rest.headers['content-range']).toBe(`bytes ${length}-${whole.bytes.length - 1}/${whole.bytes.length}`)
        expect(hash(Buffer.concat([first.bytes, rest.bytes]))).toBe(hash(whole.bytes))
      }
    },
  )

  it.each([
    ['bytes=0-0', 206, [0, 1]],
    ['bytes=2-5', 206, [2, 6]],
    ['bytes=-4', 206, [-4]],
    ['bytes=5-100000', 206, [5]],
    ['bytes=10-', 416, null],
    ['bytes=-0', 416, null],
    ['bytes=5-2', 200, [0]],
    ['bytes=0-1,3-4', 200, [0]],
    ['lines=1-2', 200, [0]],
  ] as const)('follows HTTP for the Range header %s', async (range, status, part) => {
    const id = await jobWithLog([[out('0123'), err('456'), out('789')]])
    const got = await get(logPath(id), withToken({ headers: { range } }))
    expect(got.status).toBe(status)
    if (part) expect(got.bytes.toString()).toBe('0123456789'.slice(...part))
    else expect(got.headers['content-range']).toBe('bytes */10')
  })

  it('begins again if If-Range does not match the log', async () => {
    const id = await jobWithLog([[out('0123456789')]])
    const got = await get(logPath(id), withToken({ headers: { range: 'bytes=5-', 'if-range': '"other"' } }))
    expect(got).toMatchObject({ status: 200, bytes: Buffer.from('0123456789') })
  })

  it('can be plain text, or one JSON object per line', async () => {
    const pieces = [
      out('\u001b[31mred\u001b[0m\nlink \u001b]8;;http://a\u0007x\u001b]8;;\u001b\\\n'),
      { gap: 'LOST', bytes: 5 } as const,
    ]
    const id = await jobWithLog([[...pieces, err('after'), out('end\n')]])
    const plain = await get(logPath(id, '?format=plain'), withToken({ headers: { range: 'bytes=2-' } }))
    expect(plain).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'accept-ranges': 'none' },
    })
    expect(plain.bytes.toString()).toBe('red\nlink x\nafterend\n')
    const json = await get(logPath(id, '?format=jsonl&streams=STDOUT'), withToken())
    const lines = json.bytes
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const at = expect.stringMatching(/^\d{4}-.*Z$/)
    const [red, link] = pieces[0] && 'bytes' in pieces[0] ? String(pieces[0].bytes).split('\n') : []
    expect(lines).toEqual([
      { run: 1, line: 1, at, stream: 'STDOUT', text: red },
      { run: 1, line: 2, at, stream: 'STDOUT', text: link },
      { run: 1, gap: 'LOST', startOffset: expect.any(Number), endOffset: expect.any(Number) },
      { run: 1, line: 4, at, stream: 'STDOUT', text: 'end' },
    ])
  })

  it.each(['PLAIN', 'JSONL'])('has all lines of a large log in the format %s', async (format) => {
    const text = Array.from({ length: 30_000 }, (_, at) => `line ${at} ${'x'.repeat(at % 90)}\n`)
    const id = await jobWithLog([[out(text.slice(0, 9_000).join(''))], [out(text.slice(9_000).join(''))]])
    const { bytes } = await get(logPath(id, `?format=${format}`), withToken())
    const lines = bytes.toString().split('\n').slice(0, -1)
    const got = format === 'PLAIN' ? lines : lines.map((line) => JSON.parse(line).text)
    expect(got.map((line) => `${line}\n`).join('') === text.join('')).toBe(true)
  })

  it('stops reading from the database while its reader stalls', async () => {
    const block = randomBytes(1_000_000)
    const id = await jobWithLog(Array.from({ length: 40 }, () => [out(block)]))
    const statements = server.countStatements()
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.pause()
    socket.write(`GET ${logPath(id)} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${admin.token}\r\n\r\n`)
    const reads = () => statements.filter((text) => text.includes('FROM log_chunk c')).length
    await until(
      async () => {
        const before = reads()
        await wait(500)
        return before > 0 && reads() === before
      },
      { what: 'the server reads no more' },
    )
    // Buffers of the system take some megabytes of the 40.
    expect(reads()).toBeLessThan(50)
    socket.destroy()
  })

  it('is refused if too many downloads are running', async () => {
    const block = randomBytes(1_000_000)
    const id = await jobWithLog(Array.from({ length: 20 }, () => [out(block)]))
    const sockets = Array.from({ length: limits.downloadsInFlightMax }, () => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1').pause()
      socket.write(`GET ${logPath(id)} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${admin.token}\r\n\r\n`)
      return socket
    })
    await wait(1_000)
    const refused = await get(logPath(id), withToken())
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '5' } })
    for (const socket of sockets) socket.destroy()
    await wait(500)
    expect((await get(logPath(id), withToken({ method: 'HEAD' }))).status).toBe(200)
  })

  it.each([
    ['/download/jobs/job_1/log', 404],
    ['/download/other', 404],
    ['/download/jobs/job_00000000000000000000000000/log', 404],
    ['?run=0', 400],
    ['?run=x', 400],
    ['?format=html', 400],
    ['?streams=', 400],
    ['?streams=stdout,other', 400],
  ])('is refused for the address %s', async (given, status) => {
    const path = given.startsWith('?') ? logPath(await jobWithLog([]), given) : given
    expect((await get(path, withToken())).status).toBe(status)
  })

  it('is allowed only for users who may see the job', async () => {
    const id = await jobWithLog([[out('secret\n')]])
    const other = await downloads.researcher('nosy')
    expect((await get(logPath(id), withToken({}, other))).status).toBe(404)
    expect((await get(logPath(id))).status).toBe(401)
    expect((await get(logPath(id), { headers: bearer('berth_unknown') })).status).toBe(401)
  })

  it.each([
    ['POST', 405],
    ['PUT', 405],
    ['OPTIONS', 204],
  ])('is not sent for the method %s', async (method, status) => {
    const { headers, status: got } = await get(logPath(await jobWithLog([])), withToken({ method }))
    expect(got).toBe(status)
    if (status === 405) expect(headers.allow).toBe('GET, HEAD, OPTIONS')
  })

  it('can be opened by a link on another site, but not embedded in its pages', async () => {
    const path = logPath(await jobWithLog([[out('x')]]))
    const from = (dest: string, mode: string, more: Wish = {}) =>
      get(
        more.method ? path : path,
        withToken({
          ...more,
          headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode, 'sec-fetch-dest': dest },
        }),
      )
    expect((await from('document', 'navigate')).status).toBe(200)
    expect((await from('iframe', 'navigate')).status).toBe(403)
    expect((await from('image', 'no-cors')).status).toBe(403)
    expect((await from('document', 'navigate', { method: 'POST' })).status).toBe(403)
    const graphql = await get('/graphql?query={__typename}', {
      headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    })
    expect(graphql.status).toBe(403)
  })
})

it.each([
  ['a/b\\c', 'a_b_c'],
  ['..', '_'],
  ['CON\u0000\r\nx: y', 'CON___x_ y'],
  ['😀'.repeat(100), '_'.repeat(150)],
])('the file name of a download contains only safe ASCII characters: %j', (name, ascii) => {
  expect(formatDisposition(name)).toContain(`filename="${ascii}"`)
  expect(formatDisposition(name)).toMatch(/^[\x20-\x7e]+$/)
})

describe('the download of files', () => {
  const files = {
    'run/m.csv': Buffer.from('a,b\n'),
    'page.html': Buffer.from('<script>'),
    'big.bin': randomBytes(900_000),
  }

  async function jobWithFiles(by = admin): Promise<{ id: string; byName: Record<string, string> }> {
    const { submitJob } = await by.data(
      `mutation { submitJob(input: { spec: { command: ["true"], outputs: ["*"] } }) {
        ... on SubmitJobSuccess { job { id } } ... on Problem { message } } }`,
    )
    const { id } = submitJob.job
    const { sql } = server.domain.db
    const [run] = await sql.query<{ runId: string }>(
      `UPDATE run SET state = 'SUCCEEDED', finished_at = berth_now() WHERE job_id = $1 RETURNING id AS "runId"`,
      [id],
    )
    const wide = { bytesMax: 2 ** 30, filesMax: 100, userBytesMax: 2 ** 30 }
    await collectOutputs(
      server.domain,
      run?.runId ?? '',
      async function* source(pick) {
        for (const [path, content] of Object.entries(files))
          if (pick({ path, type: 'FILE', size: content.length })) yield { path, content: Readable.from([content]) }
      },
      wide,
    )
    const { job } = await by.data(`{ job(id: "${id}") { artifacts(first: 10) { nodes { id name } } } }`)
    const nodes: { id: string; name: string }[] = job.artifacts.nodes
    return { id, byName: Object.fromEntries(nodes.map((node) => [node.name, node.id])) }
  }

  it('sends a range of one file with a harmless media type, and all files as a tar', async () => {
    const { id, byName } = await jobWithFiles()
    const big = `/download/artifacts/${byName['big.bin']}`
    expect(hash((await get(big, withToken())).bytes)).toBe(hash(files['big.bin']))
    for (const from of [1, 262_144, 600_000]) {
      const part = await get(big, withToken({ headers: { range: `bytes=${from}-` } }))
      expect([part.status, hash(part.bytes)]).toEqual([206, hash(files['big.bin'].subarray(from))])
    }
    const types = await Promise.all(
      ['run/m.csv', 'page.html'].map(async (name) => {
        const { headers } = await get(`/download/artifacts/${byName[name]}`, withToken())
        return [headers['content-type'], headers['content-disposition']]
      }),
    )
    expect(types).toEqual([
      ['text/csv', expect.stringContaining('filename="m.csv"')],
      ['application/octet-stream', expect.stringContaining('filename="page.html"')],
    ])
    const all = await get(`/download/jobs/${id}/files`, withToken())
    const entries = await unpackTar(all.bytes)
    const contents = entries.flatMap(({ header, data }) =>
      header.type === 'file' ? [[header.name, hash(Buffer.from(data ?? []))]] : [],
    )
    expect(Object.fromEntries(contents)).toEqual(
      Object.fromEntries(Object.entries(files).map(([name, content]) => [name, hash(content)])),
    )
  })

  it('is refused to other users, by token, ticket and API', async () => {
    const [ann, ben] = [await downloads.researcher('fann'), await downloads.researcher('fben')]
    const { id, byName } = await jobWithFiles(ann)
    const artifactId = byName['big.bin']
    for (const path of [`/download/artifacts/${artifactId}`, `/download/jobs/${id}/files`]) {
      expect((await get(path, withToken({}, ben))).status).toBe(404)
      expect((await get(path)).status).toBe(401)
      expect((await get(path, withToken({}, ann))).status).toBe(200)
    }
    const make = (input: string) =>
      ben.data(`mutation { createDownload(input: { ${input} }) { __typename ... on Problem { message } } }`)
    expect((await make(`artifactId: "${artifactId}"`))['createDownload'].__typename).toBe('NotFoundProblem')
    expect((await make(`filesOfJob: "${id}"`))['createDownload'].__typename).toBe('NotFoundProblem')
    const seen = await ben.data(
      `{ node(id: "${artifactId}") { id } job(id: "${id}") { artifacts(first: 9) { nodes { id } } } }`,
    )
    expect(seen).toEqual({ node: null, job: null })
  })
})
