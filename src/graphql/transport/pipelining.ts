import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * A client may send requests on one connection without waiting for the answers. They are carried out one after the other,
 * as they are answered, and the connection is not read while more than one is there. Node would begin all of them at
 * once: one connection could hold the server with ten thousands. Node's limit on the time of a request counts while it
 * waits, so a long body that is sent behind a stream is cut off, and the stream with it.
 */
export type InOrder = (response: ServerResponse, work: () => Promise<void>) => Promise<void>

interface Line {
  length: number
  /** The last of them is answered. */
  end: Promise<void>
}

/** With a single request its body is still to be read. With several, the bodies of all but the last are there. */
const isFull = ({ length }: Line) => length > 1

export function createPipelines(): InOrder {
  const lines = new WeakMap<Socket, Line>()

  function begin(socket: Socket): Line {
    const line = { length: 0, end: Promise.resolve() }
    lines.set(socket, line)
    // Node resumes it when a body is read.
    socket.on('resume', () => void (isFull(line) && socket.pause()))
    return line
  }

  return async (response, work) => {
    const { socket } = response.req
    const line = lines.get(socket) ?? begin(socket)
    line.length += 1
    // At its event `resume`, Node reads on also if it was paused meanwhile, and a second pause has no effect.
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
