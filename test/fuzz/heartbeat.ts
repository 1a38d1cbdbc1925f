import { createServer } from 'node:http'
import { watchHolds } from './holds.ts'

/** Loaded into the server's process: tells over a socket file how long its event loop was held since the last question. */
const socket = process.env['FUZZ_HEARTBEAT']
if (socket) {
  const holds = watchHolds()
  const server = createServer((_request, response) => {
    holds.take().then((ms) => response.end(String(ms)))
  })
  server.listen(socket)
  server.unref()
}
