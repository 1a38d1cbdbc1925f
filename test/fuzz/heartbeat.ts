import { createServer } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { watchHolds } from './holds.ts'

/**
 * Loaded into the server's process: tells over a socket file how long its event loop was held since the last question,
 * and at `/heap` how many bytes its heap has after a collection.
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
