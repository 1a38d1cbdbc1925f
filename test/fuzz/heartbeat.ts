import { createServer } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Loaded into the server's process: tells over a socket file how long its event loop was held since the last question. */
const socket = process.env['FUZZ_HEARTBEAT']
const resolutionMs = 10
if (socket) {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  const server = createServer((_request, response) => {
    // A hold that ends with this question is counted by the timer that is due now.
    setTimeout(() => {
      response.end(String(delays.max / 1e6))
      delays.reset()
    }, resolutionMs)
  })
  server.listen(socket)
  server.unref()
}
