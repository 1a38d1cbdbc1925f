import { createServer } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { watchHolds } from './holds.ts'

/**
 * Preloaded into the server: reports over a Unix socket the longest block of its event loop since the last request, and
 * at `/heap` the size of its heap after a garbage collection.
 */
const socket = process.env['FUZZ_HEARTBEAT']
if (socket) {
  const holds = watchHolds()
  const server = createServer(async (request, response) => {
    response.end(String(request.url === '/heap' ? heapBytes() : await holds.take()))
  })
  server.listen(socket)
  server.unref()
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}
