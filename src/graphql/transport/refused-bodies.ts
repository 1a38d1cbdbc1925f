import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'

/**
 * Answers to requests whose body is not read to its end, such as refusals. Closing a connection whose peer still sends
 * resets it, and a peer that sends first and reads later loses the answer. So the answer is sent at once, the rest of
 * the body is dropped, and only then does the response end, and with it the connection if it must be closed. The peer
 * that sends more than the bounds is cut.
 */

export interface UnreadBounds {
  bytesMax: number
  msMax: number
}

/** With its length, so that its end is seen before the response ends. */
export function sendText(response: ServerResponse, status: number, { type, text }: { type: string; text: string }) {
  response.statusCode = status
  response.setHeader('content-type', `${type}; charset=utf-8`)
  response.end(text)
}

export function sendJson(response: ServerResponse, status: number, body: unknown) {
  sendText(response, status, { type: 'application/json', text: `${JSON.stringify(body)}\n` })
}

/** The class of the responses of a server. */
export const createResponseClass = (bounds: UnreadBounds) =>
  class<Request extends IncomingMessage> extends ServerResponse<Request> {
    /** A peer that is going to be cut is told not to send its next request after this one. */
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

function isUnread(request: IncomingMessage): boolean {
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
