import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fuzz } from '../fuzz/fuzz.ts'
import { createCallers } from '../fuzz/people.ts'
import { fuzzWire } from '../fuzz/wire.ts'
import { startBerth } from '../support/berth-server.ts'
import { createDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { isWhole } from '../support/whole.ts'

const secret = 'bootstrap-secret-of-the-fuzzer'
const pools = 'pools: [{ name: sim, executor: simulated, nodes: [{ name: n1, cpu: 32, memoryGib: 64 }] }]\n'

const requests = isWhole ? 2_000 : 500
const exchanges = isWhole ? 300 : 100

/**
 * `npm run test:whole` sends 2,000 requests and 300 malformed ones. `npm run fuzz` runs longer, and also measures the
 * event loop and the heap of the server.
 */
test('the server responds to random requests of every level, and to malformed ones, without an internal error', {
  timeout: 300_000,
}, async () => {
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await createDatabase())
  const dataDir = makeDirectory()
  await chmod(dataDir, 0o711) // under root some of what it starts runs as another account
  const config = join(dataDir, 'berth.yaml')
  await writeFile(config, pools)
  const env = { DATABASE_URL: database.url, BERTH_CONFIG: config, BERTH_BOOTSTRAP_TOKEN: secret }
  const server = await startBerth({ dataDir, env })
  opened.defer(async () => void (await server.end()))
  const callers = await createCallers(server.url, secret)
  const { answers, found } = await fuzz({ url: server.url, callers, seed: 20_261_122, requests })
  expect(found.map(({ what, request }) => `${what} ${JSON.stringify(request).slice(0, 3_000)}`)).toEqual([])
  expect(answers['answered']).toBeGreaterThan(requests / 20)
  const broken = await fuzzWire({ url: server.url, token: secret, seed: 20_261_122, exchanges })
  expect(broken.map(({ what, exchange }) => `${what} ${exchange.kind} ${String(exchange.chunks)}`)).toEqual([])
  expect(server.output()).not.toContain('"level":50')
})
