import { writeFile } from 'node:fs/promises'
import { Agent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { hasProgram, startHaproxy } from '../support/balancers.ts'
import { type BerthServer, freePort, startBerth } from '../support/berth-server.ts'
import { createDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { until } from '../support/until.ts'

const token = 'a-token-for-tests'
const clients = 8
/** On a busy machine each start takes a minute. */
const timeoutMs = 300_000
const checkMs = 2_000
/** Longer than three checks. */
const leaveSeconds = 10

const submission = JSON.stringify({
  query: `mutation { submitJob(input: { spec: { command: ["true"], resources: { cpu: 0.1 } } }) {
    ... on SubmitJobSuccess { job { id } } ... on Problem { code message } } }`,
})
const query = JSON.stringify({ query: '{ jobs(first: 5) { nodes { id state } } serverInfo { release } }' })

/** Sends requests one after the other over connections that are kept open, and never repeats one. */
class Client {
  readonly failures: string[] = []
  readonly jobs: string[] = []
  requests = 0
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  #isEnded = false

  constructor(url: string) {
    this.#url = url
  }

  async run(): Promise<void> {
    while (!this.#isEnded) {
      for (const body of [submission, query]) await this.#try(body)
      await sleep(20)
    }
    this.#agent.destroy()
  }

  end() {
    this.#isEnded = true
  }

  async #try(body: string) {
    this.requests += 1
    try {
      const text = await this.#send(body)
      const id = /"job":\{"id":"(job_\w+)"/.exec(text)?.[1]
      if (id !== undefined) this.jobs.push(id)
      else if (!text.startsWith('{"data":{"jobs"')) this.failures.push(text)
    } catch (error) {
      this.failures.push(String(error))
    }
  }

  #send(body: string): Promise<string> {
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      authorization: `Bearer ${token}`,
    }
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        `${this.#url}/graphql`,
        { method: 'POST', agent: this.#agent, headers },
        (response) => {
          let text = `${response.statusCode === 200 ? '' : `${response.statusCode} `}`
          response.setEncoding('utf8')
          response.on('data', (part) => (text += part))
          response.on('end', () => resolve(text)).on('error', reject)
        },
      )
      request.on('error', reject)
      request.end(body)
    })
  }
}

const config = `
server: { leaveSeconds: ${leaveSeconds} }
pools: [{ name: sim, executor: simulated, nodes: [{ name: n1, cpu: 32, memoryGib: 64 }] }]
`

async function openPair() {
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await createDatabase())
  const dataDir = makeDirectory()
  await writeFile(join(dataDir, 'berth.yaml'), config)
  const env = {
    DATABASE_URL: database.url,
    BERTH_CONFIG: join(dataDir, 'berth.yaml'),
    BERTH_BOOTSTRAP_TOKEN: token,
  }
  const ports = [await freePort(), await freePort()] as const
  const servers: BerthServer[] = []
  const start = async (index: 0 | 1) => {
    servers[index] = await startBerth({ dataDir, port: ports[index], env })
  }
  opened.defer(async () => void (await Promise.all(servers.map((server) => server.end('SIGINT')))))
  for (const index of [0, 1] as const) await start(index)
  const kept = opened.move()
  return { database, ports, servers, start, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

describe.skipIf(!hasProgram('haproxy'))('two servers behind HAProxy', () => {
  it(
    'restart one after the other without a failed request',
    async () => {
      await using pair = await openPair()
      await using proxy = await startHaproxy(pair.ports, { checkMs })
      const bothAreUp = () =>
        until(async () => isDeepStrictEqual(await proxy.readStates(), { one: 'UP', two: 'UP' }), {
          what: 'HAProxy sends requests to both servers',
        })
      await bothAreUp()
      const load = Array.from({ length: clients }, () => new Client(proxy.url))
      const running = Promise.all(load.map((client) => client.run()))
      for (const index of [0, 1] as const) {
        await sleep(1_000)
        expect(await pair.servers[index]?.end('SIGTERM')).toBe(0)
        await pair.start(index)
        await bothAreUp()
      }
      await sleep(1_000)
      for (const client of load) client.end()
      await running
      expect(load.flatMap(({ failures }) => failures)).toEqual([])
      const jobs = load.flatMap(({ jobs: each }) => each)
      const [stored] = await pair.database.db.sql.query<{ count: number }>('SELECT count(*) FROM job')
      expect(stored?.count).toBe(jobs.length)
      expect(jobs.length).toBeGreaterThan(200)
    },
    timeoutMs,
  )
})
