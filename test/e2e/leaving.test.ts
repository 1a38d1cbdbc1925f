import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectApi } from '../support/api.ts'
import { type BerthServer, freePort, startBerth } from '../support/berth-server.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { until } from '../support/until.ts'

const token = 'a-token-for-tests'

describe('a server behind a balancer', () => {
  let database: TestDatabase
  const directory = makeDirectory()
  let server: BerthServer
  beforeAll(async () => {
    database = await createDatabase()
    const config = {
      server: { leaveSeconds: 3, trustedProxies: ['127.0.0.1'] },
      pools: [{ name: 'sim', executor: 'simulated', nodes: [{ name: 'n1', cpu: 8, memoryGib: 8 }] }],
    }
    await writeFile(join(directory, 'berth.yaml'), JSON.stringify(config))
    await writeFile(join(directory, 'url'), `${database.url}\n`)
    await writeFile(join(directory, 'token'), `${token}\n`)
    server = await startBerth({
      dataDir: directory,
      port: await freePort(),
      env: {
        BERTH_CONFIG: join(directory, 'berth.yaml'),
        DATABASE_URL_FILE: join(directory, 'url'),
        BERTH_BOOTSTRAP_TOKEN_FILE: join(directory, 'token'),
      },
    })
  })
  afterAll(async () => {
    await server?.end()
    await database?.close()
  })

  const ask = (query: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
      body: JSON.stringify({ query }),
    })

  it('writes the address of the client into the audit log', async () => {
    const mutation = 'mutation { createUser(input: { name: "ann", level: VIEWER }) { __typename } }'
    const answer = await ask(mutation, { 'x-forwarded-for': '10.9.9.9, 198.51.100.7' })
    expect(await answer.text()).toContain('CreateUserSuccess')
    const [entry] = await database.db.sql.query<{ ip: string }>(
      `SELECT ip FROM audit_entry WHERE action LIKE 'user.%' ORDER BY at DESC LIMIT 1`,
    )
    expect(entry?.ip).toBe('198.51.100.7')
  })

  it('is not ready immediately after TERM, but serves all requests until its drain time is over', async () => {
    const readiness = async () => (await fetch(`${server.url}/readyz`)).status
    const api = connectApi(server.url, token)
    expect(await readiness()).toBe(200)
    const ended = server.end('SIGTERM')
    await until(async () => (await readiness()) === 503, { what: 'the server is not ready' })
    expect(await (await fetch(`${server.url}/readyz`)).json()).toMatchObject({ warnings: ['the server is stopping'] })
    const job = await api.submit({ command: ['true'], resources: { cpu: 0.1 } })
    expect(job).toMatch(/^job_/)
    const answer = await ask('{ viewer { user { name } } }')
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
    expect(await ended).toBe(0)
    await api.close()
  })
})
