import { spawn } from 'node:child_process'
import { EventEmitter, on } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildSchema, execute, subscribe, validate } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { WebSocketServer } from 'ws'

/**
 * The baseline of the stream benchmark: a graphql-ws server that sends one message to all of its subscribers when its
 * parent asks for it, and at /relay a WebSocket that sends the output of `cat FILE`. Runs as a child process of the
 * benchmark, sends its URL by IPC, and ends with its parent.
 */
const [file = ''] = process.argv.slice(2)
const news = new EventEmitter().setMaxListeners(0)
process.on('message', () => news.emit('event'))

const schema = buildSchema(`
  type Query { ok: Boolean }
  type Job { id: ID! state: String! version: Int! }
  type Event { seq: Int! to: String }
  type JobTransitions { job: Job! transitions: [Event!]! cursor: String! }
  type Subscription { jobStatus(jobId: ID!, after: String): JobTransitions! }
`)

async function* jobStatus({ jobId }: { jobId: string }) {
  let version = 0
  const message = () => {
    version += 1
    const transitions = [{ seq: version, to: 'QUEUED' }]
    return { jobStatus: { job: { id: jobId, state: 'QUEUED', version }, transitions, cursor: String(version) } }
  }
  const events = on(news, 'event')
  yield message()
  for await (const _ of events) yield message()
}

const http = createServer()
const graphql = new WebSocketServer({ noServer: true })
const relay = new WebSocketServer({ noServer: true })
useServer({ schema, roots: { subscription: { jobStatus } }, execute, subscribe, validate }, graphql)
http.on('upgrade', (request, socket, head) => {
  const server = request.url === '/relay' ? relay : graphql
  server.handleUpgrade(request, socket, head, (accepted) => server.emit('connection', accepted, request))
})
relay.on('connection', async (socket) => {
  const { stdout } = spawn('cat', [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const part of stdout) await new Promise((sent) => socket.send(part, sent))
  socket.close()
})
http.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(http.address() as AddressInfo).port}`))
process.once('disconnect', () => process.exit())
