import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { applyBootstrapToken } from '../../src/domain/people/tokens.ts'
import { openLog, sealLog } from '../../src/logs/append.ts'
import type { LogPiece } from '../../src/logs/chunk.ts'
import { append } from './log.ts'
import { bearer, mutate, type Person, personWith } from './people.ts'
import { startServer, type TestServer, type TestServerOptions } from './server.ts'

export interface Got {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
}

export interface Wish {
  headers?: Record<string, string>
  method?: string
  /** Cuts the connection after this number of bytes. */
  cutAfter?: number
}

const secret = 'the-bootstrap-secret-of-this-test'

/** Opens a server with users, its files, and jobs with stored logs. */
export class DownloadServer {
  readonly server: TestServer
  readonly admin: Person

  private constructor(server: TestServer) {
    this.server = server
    this.admin = personWith(server.url, secret)
  }

  static async start(options: TestServerOptions = {}): Promise<DownloadServer> {
    const server = await startServer({ logIn: { oidc: null }, ...options })
    await applyBootstrapToken(server.domain, secret)
    return new DownloadServer(server)
  }

  get(path: string, { headers = {}, method = 'GET', cutAfter = Number.POSITIVE_INFINITY }: Wish = {}): Promise<Got> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(new URL(path, this.server.url), { method, headers, agent: false }, (response) => {
        const { statusCode: status = 0 } = response
        const parts: Buffer[] = []
        let size = 0
        const done = () =>
          resolve({ status, headers: response.headers, bytes: Buffer.concat(parts).subarray(0, cutAfter) })
        response.on('data', (part: Buffer) => {
          parts.push(part)
          size += part.length
          if (size < cutAfter) return
          response.destroy()
          done()
        })
        response.on('end', done)
        response.on('error', (error) => (size < cutAfter ? reject(error) : undefined))
      })
      request.on('error', reject)
      request.end()
    })
  }

  withToken(wish: Wish = {}, person: Person = this.admin): Wish {
    return { ...wish, headers: { ...bearer(person.token), ...wish.headers } }
  }

  /** Creates a sealed log of a job of `by`. */
  async jobWithLog(pieces: readonly (readonly LogPiece[])[], by: Person = this.admin): Promise<string> {
    const { submitJob } = await by.data(
      `mutation { submitJob(input: { spec: { command: ["true"] } }) { ... on SubmitJobSuccess { job { id } } } }`,
    )
    const { sql } = this.server.domain.db
    const [run] = await sql.query<{ id: string }>('SELECT id FROM run WHERE job_id = $1', [submitJob.job.id])
    let head = await openLog(sql, run?.id ?? '')
    for (const each of pieces) head = await append(sql, head, { pieces: each, position: null, bytesMax: 2 ** 40 })
    await sealLog(sql, [run?.id ?? ''])
    return submitJob.job.id
  }

  async researcher(name: string): Promise<Person & { tokenId: string }> {
    const { user } = await mutate(this.admin, 'createUser', {
      input: { name, level: 'RESEARCHER' },
      wanted: 'user { id }',
    })
    const made = await mutate(this.admin, 'createToken', {
      input: { name: 't', userId: user.id },
      wanted: 'secret token { id }',
    })
    return { ...personWith(this.server.url, made.secret), tokenId: made.token.id }
  }
}

export const logPath = (id: string, more = '') => `/download/jobs/${id}/log${more}`
