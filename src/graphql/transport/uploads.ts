import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Viewer } from '../../domain/access.ts'
import { checkTicket, createTicket } from '../../domain/download-tickets.ts'
import { InvalidInput, NotFound } from '../../domain/errors.ts'
import { storePack } from '../../domain/snapshots/blobs.ts'
import { storeList, useUpload } from '../../domain/snapshots/snapshots.ts'
import { limits } from '../caller-limits.ts'
import { KeyedLimit } from '../keyed-limit.ts'
import type { Rooms } from '../rows/context.ts'
import { formatUploadTarget, newUploadTarget, parseUploadTarget, type UploadTarget } from '../rows/upload-target.ts'
import type { FindAddress } from './client-address.ts'
import type { Exchange } from './compression.ts'
import { isUnread, refuseMethod, sendError, sendJson, sendRateLimited } from './refused-bodies.ts'

export interface UploadsOptions {
  findAddress: FindAddress
  rooms: Rooms
  /** Ends the exchange if its viewer loses access. */
  watch: (viewer: Viewer, response: ServerResponse) => void
}

const retryAfterSeconds = 5

/**
 * Receives the lists and blobs of snapshots by PUT, with single-use tickets. A body is stored while it arrives, at the
 * speed of the database.
 */
export class Uploads {
  readonly #options: UploadsOptions
  readonly #inFlight = new KeyedLimit(limits.uploadsInFlightMax)

  constructor(options: UploadsOptions) {
    this.#options = options
  }

  async handle({ request, response }: Exchange): Promise<void> {
    response.setHeader('cache-control', 'no-store')
    if (request.method !== 'PUT') return refuseMethod(response, 'PUT', 'Use PUT')
    const url = new URL(request.url ?? '/', 'http://localhost')
    const target = parseUploadTarget(url.pathname)
    if (!target) return sendError(response, 404, 'NOT_FOUND', 'Ask createSnapshot for the address of an upload')
    const { rooms, findAddress } = this.#options
    const ticket = url.searchParams.get('ticket') ?? ''
    const ip = findAddress(request)
    const viewer = await checkTicket(rooms.domain, { ticket, target: formatUploadTarget(target), ip })
    if (!viewer) return sendError(response, 403, 'FORBIDDEN', ticketRefusal)
    const { socket } = request
    const release = this.#inFlight.tryAcquire(viewer.userId)
    if (!release) return sendRateLimited(response, tooMany, retryAfterSeconds)
    try {
      if (!(await useUpload(rooms.domain, target.once))) return sendError(response, 403, 'FORBIDDEN', ticketRefusal)
      this.#options.watch(viewer, response)
      cutSilentUpload(request)
      // The server reads the rest of a refused body elsewhere.
      const body = request.iterator({ destroyOnReturn: false })
      sendJson(response, 200, await this.#store(viewer, target, body))
    } catch (error) {
      if (error instanceof InvalidInput) sendError(response, 400, 'BAD_REQUEST', error.message)
      else if (error instanceof NotFound) sendError(response, 404, 'NOT_FOUND', error.message)
      else if (!request.destroyed || request.complete) throw error
    } finally {
      release()
      socket.setTimeout(0)
    }
  }

  async #store(
    viewer: Viewer,
    { snapshotId, part }: UploadTarget,
    body: AsyncIterable<Uint8Array>,
  ): Promise<{ missing: readonly string[]; uploadUrl: string | null }> {
    const { domain } = this.#options.rooms
    const owner = { snapshotId, userId: viewer.userId }
    if (part === 'blobs') await storePack(domain, owner, body)
    const missing = part === 'list' ? await storeList(domain, owner, body) : []
    if (missing.length === 0) return { missing, uploadUrl: null }
    const path = formatUploadTarget(newUploadTarget(snapshotId, 'blobs'))
    const { ticket } = await createTicket(domain, viewer, path)
    return { missing, uploadUrl: `${path}?ticket=${ticket}` }
  }
}

const ticketRefusal =
  'The ticket is of another upload, was used, or its time is over; ask createSnapshot for another one'

function cutSilentUpload(request: IncomingMessage): void {
  request.setTimeout(limits.uploadSilenceMsMax, () => request.destroy())
}

/** Replaces the limit of Node, which would also count for uploads. */
export function cutSlowBody(request: IncomingMessage): void {
  if (!isUnread(request)) return
  const cut = () => {
    if (!request.complete) request.destroy()
  }
  const timer = setTimeout(cut, limits.bodyMsMax)
  const forget = () => clearTimeout(timer)
  request.once('end', forget).once('close', forget)
}

const tooMany = `${limits.uploadsInFlightMax} of your uploads are in flight; wait for one of them`
