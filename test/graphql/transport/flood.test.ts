import { it } from 'vitest'
import { collectAcceptedSockets, openSocket } from '../../support/connections.ts'
import { startServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

const messages = 20_000
const sent = {
  pings: () => ({ type: 'ping', payload: { text: 'x'.repeat(1_000) } }),
  'refused operations': (n: number) => ({
    id: `${n}`,
    type: 'subscribe',
    payload: { query: `{ ${'x'.repeat(1_000)} }` },
  }),
}

it.each(Object.entries(sent))(
  'the server stops reading %s from a socket that does not read its responses',
  async (_what, messageOf) => {
    await using server = await startServer()
    const { made: socket, accepted } = await collectAcceptedSockets(() => openSocket(server.url))
    const [raw] = accepted
    let answers = 0
    socket.on('message', () => {
      answers += 1
    })
    socket.pause()
    for (let n = 0; n < messages; n++) socket.send(JSON.stringify(messageOf(n)))
    const isStopped = async () => {
      const read = raw?.bytesRead
      await new Promise((resolve) => setTimeout(resolve, 200))
      return raw?.isPaused() && raw.bytesRead === read
    }
    await until(isStopped, { what: 'the server reads no further' })
    socket.resume()
    await until(() => answers === messages, { what: 'all are answered' })
    socket.terminate()
  },
)
