import type { IncomingMessage, ServerResponse } from 'node:http'
import { anonymous, type Viewer } from '../../domain/access.ts'
import { checkTicket } from '../../domain/download-tickets.ts'
import { limits } from '../caller-limits.ts'
import type { ErrorCode } from '../errors.ts'
import { KeyedLimit } from '../keyed-limit.ts'
import { createContext, type Rooms } from '../rows/context.ts'
import { formatTarget, parseTarget } from '../rows/download-target.ts'
import type { FindAddress } from './client-address.ts'
import type { Exchange } from './compression.ts'
import { type DownloadFile, openFile } from './download-files.ts'
import { sendPreflight } from './negotiation.ts'
import { refuseMethod, sendError, sendRateLimited } from './refused-bodies.ts'

export interface DownloadsOptions {
  findAddress: FindAddress
  rooms: Rooms
  /** Identifies the viewer by the token of the request; null: the response was already sent. */
  identify: (exchange: Exchange) => Promise<Viewer | null>
  /** Ends the response if its reader stalls or its viewer loses access. */
  watch: (viewer: Viewer, response: ServerResponse) => void
  allowedHeaders: readonly string[]
}

const retryAfterSeconds = 5
const exposedHeaders = 'retry-after, accept-ranges, content-disposition, content-range, etag'

/**
 * Serves logs and artifacts as files, and snapshots to runs, by GET and HEAD, with a token or a ticket
 * (domain/download-tickets.ts). Files are generated while they are sent, as fast as the reader takes them. Byte ranges,
 * by which an interrupted download continues, need a known size; raw logs and artifacts have one, a tar of files has
 * none.
 */
export class Downloads {
  readonly #options: DownloadsOptions
  readonly #inFlight = new KeyedLimit(limits.downloadsInFlightMax)

  constructor(options: DownloadsOptions) {
    this.#options = options
  }

  async handle(exchange: Exchange): Promise<void> {
    const { request, response } = exchange
    if (request.method === 'OPTIONS')
      return sendPreflight(response, [...this.#options.allowedHeaders, 'if-range', 'range'])
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('cache-control', 'no-store')
      return refuseMethod(response, 'GET, HEAD, OPTIONS', 'Use GET or HEAD')
    }
    response.setHeader('referrer-policy', 'no-referrer')
    if (request.headers.origin !== undefined) response.setHeader('access-control-expose-headers', exposedHeaders)
    const url = new URL(request.url ?? '/', 'http://localhost')
    const target = parseTarget(url)
    if ('status' in target)
      return refuse(response, target.status, target.status === 404 ? 'NOT_FOUND' : 'BAD_REQUEST', target.message)
    const viewer = await this.#findViewer(exchange, {
      ticket: url.searchParams.get('ticket'),
      target: formatTarget(target),
    })
    if (!viewer) return
    const release = this.#inFlight.tryAcquire(viewer.userId)
    if (!release) return sendRateLimited(response, tooMany, retryAfterSeconds)
    try {
      const file = await openFile(createContext(this.#options.rooms, viewer), target)
      if (!file) return refuse(response, 404, 'NOT_FOUND', notFoundText[target.kind])
      this.#options.watch(viewer, response)
      await sendFile(exchange, file)
    } finally {
      release()
    }
  }

  /** null: the response was already sent. */
  async #findViewer(
    exchange: Exchange,
    { ticket, target }: { ticket: string | null; target: string },
  ): Promise<Viewer | null> {
    const { request, response } = exchange
    const { rooms, identify, findAddress } = this.#options
    const hasToken = request.headers.authorization !== undefined
    const caller = ticket === null || hasToken ? await identify(exchange) : anonymous
    if (caller === null || (ticket === null && caller !== anonymous)) return caller
    if (ticket === null) {
      refuse(
        response,
        401,
        'UNAUTHENTICATED',
        'Authentication required; send a token, or ask createDownload for an address',
      )
      return null
    }
    const viewer = await checkTicket(rooms.domain, { ticket, target, ip: findAddress(request) })
    if (viewer && (!hasToken || caller.userId === viewer.userId)) return viewer
    refuse(response, 403, 'FORBIDDEN', 'The ticket is of another object or user, or its time is over; make another one')
    return null
  }
}

const notFoundText = {
  log: 'The job does not exist',
  artifact: 'The artifact does not exist, or is a link; read its `uri` instead',
  files: 'The job does not exist, or has no files',
  snapshot: 'The job has no snapshot, or the token is not that of its run',
} as const

const tooMany = `${limits.downloadsInFlightMax} of your downloads are in flight; wait for one of them`

function refuse(response: ServerResponse, status: number, code: ErrorCode, message: string): void {
  response.setHeader('cache-control', 'no-store')
  if (status === 401) response.setHeader('www-authenticate', 'Bearer')
  sendError(response, status, code, message)
}

/** The bytes from `start` up to `end`. */
interface ByteRange {
  start: number
  end: number
}

async function sendFile({ request, response }: Exchange, file: DownloadFile): Promise<void> {
  const etag = file.tag === null ? null : `"${file.tag}"`
  response.setHeader('content-type', file.type)
  response.setHeader('content-disposition', formatDisposition(file.name))
  // Prevents a browser from showing an artifact as a page of this server.
  response.setHeader('content-security-policy', "sandbox; default-src 'none'")
  response.setHeader('cache-control', 'private, no-cache, no-transform')
  response.setHeader('accept-ranges', file.bytes === null ? 'none' : 'bytes')
  if (etag !== null) response.setHeader('etag', etag)
  const range = findRange(request, file.bytes, etag)
  if (range === 'UNSATISFIABLE') {
    response.setHeader('content-range', `bytes */${file.bytes}`)
    return refuse(response, 416, 'BAD_REQUEST', `The file has ${file.bytes} bytes`)
  }
  const { start, end } = range ?? { start: 0, end: file.bytes ?? Number.POSITIVE_INFINITY }
  if (range) response.setHeader('content-range', `bytes ${start}-${end - 1}/${file.bytes}`)
  if (file.bytes !== null) response.setHeader('content-length', end - start)
  response.statusCode = range ? 206 : 200
  if (request.method === 'HEAD' || start === end) return void response.end()
  await sendBytes(response, file, { start, end })
}

/** Sends the file, and waits for the reader after each part. The reader may disconnect at any time. */
async function sendBytes(response: ServerResponse, file: DownloadFile, range: ByteRange): Promise<void> {
  for await (const bytes of readRange(file, range)) {
    if (response.destroyed) return
    if (!response.write(bytes)) await waitForReader(response)
  }
  response.end()
}

/** Resolves when the reader has taken the bytes or disconnected. */
function waitForReader(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go)
      resolve()
    }
    if (response.destroyed) return resolve()
    response.once('drain', go).once('close', go)
  })
}

/**
 * Reads a range. If the file has become shorter, the connection is cut, because the response announced the original
 * length.
 */
async function* readRange(file: DownloadFile, { start, end }: ByteRange): AsyncGenerator<Uint8Array> {
  let left = end - start
  for await (const bytes of file.read(start)) {
    yield bytes.subarray(0, left)
    left -= Math.min(left, bytes.length)
    if (left === 0) return
  }
  if (Number.isFinite(left)) throw new Error(`The file ${file.name} became shorter while it was sent`)
}

/** The requested range; null: the whole file. Several ranges are ignored, as RFC 9110, 14.2 permits. */
function findRange(
  { headers }: IncomingMessage,
  bytes: number | null,
  etag: string | null,
): ByteRange | 'UNSATISFIABLE' | null {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(headers.range?.trim() ?? '') ?? []
  const condition = headers['if-range']
  if (bytes === null || (first === '' && last === '') || (condition !== undefined && condition !== etag)) return null
  const start = first === '' ? Math.max(0, bytes - Number(last)) : Number(first)
  const end = first === '' || last === '' ? bytes : Math.min(bytes, Number(last) + 1)
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null
  return start < end ? { start, end } : 'UNSATISFIABLE'
}

const nameCharactersMax = 150

/**
 * The header that names the file: without a path, without characters that some systems refuse, and with non-ASCII
 * characters only in its second form (RFC 6266).
 */
export function formatDisposition(name: string): string {
  const safe = name
    .replace(/[/\\:*?"<>|%\p{Cc}\p{Cf}\p{Cs}]/gu, '_')
    .replace(/^[.\s]+|[.\s]+$/g, '_')
    .slice(0, nameCharactersMax)
    .toWellFormed()
  const ascii = safe.replace(/[^\x20-\x7e]/g, '_')
  const encoded = encodeURIComponent(safe).replace(
    /['()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
