import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { acceptsEncoding, type Exchange } from './compression.ts'
import { sendPlain } from './refused-bodies.ts'

/**
 * The web console, as `npm run prepare` built it: a page for all of its URLs, and files with hashed names that browsers
 * keep forever. All files are read once, at the start.
 */
export class ConsoleFiles {
  readonly #page: string | null
  readonly #files: ReadonlyMap<string, ConsoleFile>
  /** Texts of the GraphQL documents of the console by their hash. */
  readonly documents: ReadonlyMap<string, string>

  readonly #issuerOrigin: string | null

  /** If `oidc` has a client id, pages may connect to the OpenID provider. */
  constructor(folder: string, oidc: { issuer: string; clientId: string | null } | null = null) {
    this.#issuerOrigin = oidc?.clientId ? new URL(oidc.issuer).origin : null
    const path = join(folder, 'index.html')
    const isBuilt = existsSync(path)
    this.#page = isBuilt ? readFileSync(path, 'utf8') : null
    this.#files = isBuilt ? readFiles(folder) : new Map()
    this.documents = isBuilt ? readDocuments(folder) : new Map()
  }

  /** true: the path belongs to the console. */
  has(path: string): boolean {
    return isPage(path) || this.#files.has(path)
  }

  send({ request, response }: Exchange, path: string): void {
    response.setHeader('referrer-policy', 'same-origin')
    const file = this.#files.get(path)
    if (!/^(GET|HEAD)$/.test(request.method ?? '')) sendPlain(response.setHeader('allow', 'GET, HEAD'), 405, 'Use GET')
    else if (file) sendFile({ request, response }, file)
    else if (this.#page === null) sendPlain(response, 404, notBuilt)
    else this.#sendPage({ request, response }, renderPage(this.#page, path))
  }

  #sendPage({ request, response }: Exchange, page: string): void {
    const nonce = randomBytes(16).toString('base64')
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': buildContentSecurityPolicy(nonce, this.#issuerOrigin),
      'cache-control': 'no-cache',
    })
    response.end(request.method === 'HEAD' ? undefined : page.replace('nonce=""', () => `nonce="${nonce}"`))
  }
}

const notBuilt =
  'The web console is not built: run "npm ci" with development packages in the folder of Berth, and start the server again. The API is at /graphql.'

interface ConsoleFile {
  readonly type: string
  readonly isImmutable: boolean
  readonly plain: Buffer
  readonly br?: Buffer
  readonly gzip?: Buffer
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

function readFiles(folder: string): ReadonlyMap<string, ConsoleFile> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const read = (name: string) => readFileSync(join(folder, name))
  return new Map(
    names.flatMap((name) => {
      const type = types[extname(name)]
      if (type === undefined) return []
      const file = {
        type,
        isImmutable: name.startsWith('assets'),
        plain: read(name),
        ...(names.includes(`${name}.br`) && { br: read(`${name}.br`) }),
        ...(names.includes(`${name}.gz`) && { gzip: read(`${name}.gz`) }),
      }
      return [[`/${name}`, file] as const]
    }),
  )
}

const readDocuments = (folder: string): ReadonlyMap<string, string> =>
  new Map(Object.entries(JSON.parse(readFileSync(join(folder, 'documents.json'), 'utf8'))))

/** The first segment of every URL of the console; `/` is the overview. */
const pages =
  /^\/(?:(?:jobs|sweeps|approvals|workload|cluster|usage|people|secrets|policies|audit|settings|about|login)(?:\/.*)?)?$/

const isPage = (path: string) => pages.test(path)

/** The base is relative to the URL, so that the console also works below the path of a proxy. */
function renderPage(page: string, path: string): string {
  const depth = path.split('/').length - 2
  return page.replace('<base href="./"', () => `<base href="${'../'.repeat(depth) || './'}"`)
}

/** Builds the policy. Styles that components add need the nonce. */
const buildContentSecurityPolicy = (nonce: string, issuerOrigin: string | null) =>
  [
    "default-src 'self'",
    `connect-src ${["'self'", ...(issuerOrigin === null ? [] : [issuerOrigin])].join(' ')}`,
    `style-src 'self' 'nonce-${nonce}'`,
    "base-uri 'self'",
    "object-src 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

const yearSeconds = 31_536_000

function sendFile({ request, response }: Exchange, file: ConsoleFile): void {
  const accepted = request.headers['accept-encoding']
  const encoding = (['br', 'gzip'] as const).find((each) => file[each] && acceptsEncoding(accepted, each))
  const bytes = (encoding && file[encoding]) ?? file.plain
  response.writeHead(200, {
    'content-type': file.type,
    'content-length': bytes.length,
    'cache-control': file.isImmutable ? `public, max-age=${yearSeconds}, immutable` : 'no-cache',
    vary: 'Origin, Accept-Encoding',
    ...(encoding && { 'content-encoding': encoding }),
  })
  response.end(request.method === 'HEAD' ? undefined : bytes)
}
