import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface Line {
  length: number
  /** Resolves when the last request has its response. */
  end: Promise<void>
}

/**
 * true: stop reading. With a single request the body must still be read; with several, only the body of the last may be
 * incomplete.
 */
const isFull = ({ length }: Line) => length > 1

/**
 * Executes the requests of a connection one after the other, and stops reading the connection while more than one
 * waits. Node alone would begin ten thousand pipelined requests at once. Known limit: Node's request timeout includes
 * the wait, so a long body behind a stream is cut, and the stream with it.
 */
export function createPipelines(): (response: ServerResponse, work: () => Promise<void>) => Promise<void> {
  const lines = new WeakMap<Socket, Line>()

  function begin(socket: Socket): Line {
    const line = { length: 0, end: Promise.resolve() }
    lines.set(socket, line)
    // Node resumes the socket when a body is read.
    socket.on('resume', () => void (isFull(line) && socket.pause()))
    return line
  }

  return async (response, work) => {
    const { socket } = response.req
    const line = lines.get(socket) ?? begin(socket)
    line.length += 1
    // At its event `resume` Node continues to read even if the socket was paused meanwhile, and a second pause has no effect.
    if (isFull(line)) socket.pause().resume()
    const before = line.end
    const { promise, resolve: leave } = Promise.withResolvers<void>()
    line.end = promise
    await before
    if (socket.destroyed) return leave()
    response.once('close', () => {
      line.length -= 1
      if (line.length === 1) socket.resume()
      leave()
    })
    await work()
  }
}
