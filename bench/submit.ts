import { fork } from 'node:child_process'
import { once } from 'node:events'
import { poster, printRace, race } from './harness.ts'
import { withServer } from './server.ts'

/**
 * submitJob over HTTP from 64 kept-alive clients, against the same schema on the same yoga with a resolver that does
 * nothing: how much of what the edge can carry is left when every submission is a durable row, a run and an event.
 * Nothing is started meanwhile: the server is an API without a scheduler. Goal: ≥ 0.7 ×.
 */
const clients = 64
const rounds = 5
const roundMs = 4_000

const query = `mutation ($input: SubmitJobInput!) {
  submitJob(input: $input) { ... on SubmitJobSuccess { job { id state } } ... on Problem { code message } }
}`
const body = JSON.stringify({ query, variables: { input: { spec: { command: ['/bin/true'] } } } })

const noop = fork(new URL('./noop-server.ts', import.meta.url))
const [noopUrl] = (await once(noop, 'message')) as [string]

await withServer(
  async (url) => {
    const berth = poster(url, clients)
    const nothing = poster(noopUrl, clients)
    const results = await race({
      contestants: [
        { name: 'no-op resolver', work: async () => void (await nothing.send(body)) },
        { name: 'submitJob', work: async () => void (await berth.send(body)) },
      ],
      clients,
      rounds,
      roundMs,
    })
    berth.close()
    nothing.close()
    printRace(`submitJob over HTTP, ${clients} clients`, results)
  },
  { BERTH_ROLES: 'api' },
)
noop.disconnect()
