import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConsoleFiles } from '../../../src/graphql/transport/console-files.ts'
import { send } from '../../support/client.ts'
import { makeDirectory } from '../../support/directory.ts'
import { openTestServer, startServer } from '../../support/server.ts'

const folder = makeDirectory()
const files = {
  'index.html': '<base href="./" /><meta property="csp-nonce" nonce="" /><div id="root">',
  'documents.json': '{"abc":"{ __typename }"}',
  'favicon.svg': '<svg/>',
  'assets/app-1234.js': 'plain',
  'assets/app-1234.js.br': 'brotli',
  'assets/app-1234.js.gz': 'gzip',
  'assets/inter.woff2': 'font',
}
await mkdir(join(folder, 'assets'))
for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
const server = await openTestServer({ console: new ConsoleFiles(folder) })

const get = (path: string, headers: Record<string, string> = {}) => send(server.url, { method: 'GET', path, headers })

it.each(['/', '/jobs', '/jobs/job_1/log?run=2', '/login/return', '/workload/gpu', '/settings'])(
  'the console is served at %s, with a Content-Security-Policy of files of the server only',
  async (path) => {
    const { status, headers, text } = await get(path)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
    })
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'self'; ")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    const [, nonce] = text.match(/nonce="([^"]+)"/) ?? []
    expect(policy).toContain(`style-src 'self' 'nonce-${nonce}'`)
  },
)

it('the Content-Security-Policy permits connections to the OpenID provider, and to no other server', () => {
  const policyOf = (oidc: { issuer: string; clientId: string } | null) => {
    const sent: Record<string, unknown> = {}
    const response = { setHeader: () => undefined, writeHead: (_: number, all: object) => Object.assign(sent, all) }
    const exchange = { request: { method: 'GET', headers: {} }, response: { ...response, end: () => undefined } }
    new ConsoleFiles(folder, oidc).send(exchange as never, '/jobs')
    return String(sent['content-security-policy'])
  }
  const oidc = { issuer: 'https://login.example.org/realms/berth', clientId: 'berth-web' }
  expect(policyOf(oidc)).toContain("connect-src 'self' https://login.example.org;")
  expect(policyOf(null)).toContain("connect-src 'self';")
})

it.each([
  ['/', './'],
  ['/jobs', './'],
  ['/jobs/job_1', '../'],
  ['/jobs/job_1/log', '../../'],
])('the base URL at %s is relative, so that the console works below the path of a proxy', async (path, base) => {
  expect((await get(path)).text).toContain(`<base href="${base}"`)
})

it.each([
  '/nothing',
  '/jobsx',
  '/index.html',
  '/documents.json',
  '/assets/none.js',
  '/assets/../index.html',
  '/%2e%2e/x',
])('the path %s returns 404', async (path) => expect((await get(path)).status).toBe(404))

it('files with hashed names may be cached forever, and are sent in the best accepted encoding', async () => {
  const path = '/assets/app-1234.js'
  const read = async (accepted: string) => {
    const { text, headers } = await get(path, { 'accept-encoding': accepted })
    return [text, headers['content-encoding']]
  }
  expect(await read('gzip, br')).toEqual(['brotli', 'br'])
  expect(await read('gzip')).toEqual(['gzip', 'gzip'])
  expect(await read('identity')).toEqual(['plain', undefined])
  const { headers } = await get(path)
  expect(headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Origin, Accept-Encoding',
  })
  expect((await get('/favicon.svg')).headers['cache-control']).toBe('no-cache')
  expect((await get('/assets/inter.woff2')).headers['content-type']).toBe('font/woff2')
})

it('the console is served only for GET and HEAD', async () => {
  expect((await send(server.url, { method: 'HEAD', path: '/jobs' })).text).toBe('')
  const { status, headers } = await send(server.url, { method: 'POST', path: '/jobs', body: '{}' })
  expect([status, headers.allow]).toEqual([405, 'GET, HEAD'])
})

it('the documents of the console are trusted documents, by their hash', () => {
  expect([...new ConsoleFiles(folder).documents]).toEqual([['abc', '{ __typename }']])
})

describe('a page of another site', () => {
  const from = (dest: string, mode: string, path = '/jobs/job_1', method = 'GET') =>
    send(server.url, {
      method,
      path,
      headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode, 'sec-fetch-dest': dest },
    }).then(({ status }) => status)

  it('may have links to the console', async () => {
    expect(await from('document', 'navigate')).toBe(200)
    expect(await from('document', 'navigate', '/login/return')).toBe(200)
  })

  it('cannot frame the console, load its files, post to it, or link to a query', async () => {
    expect(await from('iframe', 'navigate')).toBe(403)
    expect(await from('script', 'no-cors', '/assets/app-1234.js')).toBe(403)
    expect(await from('image', 'no-cors', '/favicon.svg')).toBe(403)
    expect(await from('empty', 'cors', '/jobs')).toBe(403)
    expect(await from('document', 'navigate', '/jobs', 'POST')).toBe(403)
    expect(await from('document', 'navigate', '/graphql?query={__typename}')).toBe(403)
    expect(await from('document', 'navigate', '/healthz')).toBe(403)
  })
})

it('the page shows how to build the console if it is not built', async () => {
  await using bare = await startServer()
  const { status, text } = await send(bare.url, { method: 'GET', path: '/' })
  expect(status).toBe(404)
  expect(text).toContain('npm ci')
})
