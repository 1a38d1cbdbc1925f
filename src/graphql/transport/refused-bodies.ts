import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { ErrorCode } from '../errors.ts'
import { currentRequest } from '../request-scope.ts'

export interface UnreadBounds {
  bytesMax: number
  msMax: number
}

export function sendPlain(response: ServerResponse, status: number, text: string) {
  sendText(response, status, 'text/plain', text)
}

export function sendJson(response: ServerResponse, status: number, body: unknown) {
  sendText(response, status, 'application/json', JSON.stringify(body))
}

/** Uses `end`, which adds Content-Length, so that clients recognise the end of the text before the response ends. */
function sendText(response: ServerResponse, status: number, type: string, text: string) {
  response.statusCode = status
  response.setHeader('content-type', `${type}; charset=utf-8`)
  response.end(`${text}\n`)
}

/** Sends an error in the format of a GraphQL response. */
export function sendError(response: ServerResponse, status: number, code: ErrorCode, message: string) {
  const extensions = { code, requestId: currentRequest().id }
  sendJson(response, status, { errors: [{ message, extensions }] })
}

export function sendRateLimited(response: ServerResponse, message: string, retryAfterSeconds: number) {
  response.setHeader('retry-after', String(retryAfterSeconds))
  const extensions = { code: 'RATE_LIMITED', requestId: currentRequest().id, retryAfterSeconds }
  sendJson(response, 429, { errors: [{ message, extensions }] })
}

export function refuseMethod(response: ServerResponse, allowed: string, message: string) {
  response.setHeader('allow', allowed)
  sendError(response, 405, 'BAD_REQUEST', message)
}

/**
 * Responses to requests whose body is not read to its end. Closing a connection while its peer still sends resets the
 * connection, and the peer loses the response. So the response is sent at once, then the rest of the body is read and
 * dropped, and then the response ends. A peer that exceeds the bounds is cut.
 */
export const createResponseClass = (bounds: UnreadBounds) =>
  class<Request extends IncomingMessage> extends ServerResponse<Request> {
    /** Announces that the connection will close, so that the peer does not send its next request on it. */
    override writeHead(status: number, ...rest: unknown[]): this {
      if (isUnread(this.req) && !(announcedBytes(this.req) <= bounds.bytesMax)) this.shouldKeepAlive = false
      return super.writeHead(status, ...(rest as [OutgoingHttpHeaders]))
    }

    override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
      const end = (...rest: unknown[]) => super.end(...(rest as [unknown, BufferEncoding, () => void]))
      if (!isUnread(this.req)) return end(chunk, encoding, callback)
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) {
        if (!this.headersSent) this.setHeader('content-length', Buffer.byteLength(chunk))
        this.write(chunk)
      } else this.flushHeaders()
      dropRest(this.req, bounds, () => {
        const { socket } = this
        if (!this.req.complete) this.once('finish', () => socket?.destroySoon())
        end([chunk, encoding, callback].find((each) => typeof each === 'function'))
      })
      return this
    }
  }

const announcedBytes = ({ headers }: IncomingMessage) => Number(headers['content-length'] ?? Infinity)

export function isUnread(request: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  return !request.complete && !request.destroyed && (encoding !== undefined || length !== '0')
}

function dropRest(request: IncomingMessage, { bytesMax, msMax }: UnreadBounds, done: () => void): void {
  let bytes = 0
  const timer = setTimeout(finish, msMax)
  function finish() {
    clearTimeout(timer)
    request.off('data', count).off('end', finish).off('close', finish)
    done()
  }
  function count(part: Buffer) {
    bytes += part.length
    if (bytes > bytesMax) finish()
  }
  request.on('data', count).once('end', finish).once('close', finish)
}
