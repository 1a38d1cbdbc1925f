import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { root } from '../support/sources.ts'
import { type Found, fuzz } from './fuzz.ts'
import { hostileRequests } from './hostile.ts'
import { createCallers } from './people.ts'
import { fuzzWire, type WireFound } from './wire.ts'

/**
 * npm run fuzz -- --requests 40000 --exchanges 60000 --seed 42
 *
 * First documents, then exchanges of broken bytes. Prints the answers by code, and each request and exchange that was
 * not answered as it must be. Exits with 1 when there is one, when the heap of the server has grown by more than
 * `heapGrowthMax`, when its log has an error, or when it does not end by SIGTERM while it works on hostile requests.
 */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '40000' },
    exchanges: { type: 'string', default: '60000' },
    seed: { type: 'string' },
  },
})

const seedMax = 2 ** 31
const seed = values.seed === undefined ? Math.ceil(Math.random() * seedMax) : Number(values.seed)
const requests = Number(values.requests)
const exchanges = Number(values.exchanges)
if (![seed, requests, exchanges].every((value) => Number.isInteger(value) && value > 0)) {
  process.stderr.write('--requests, --exchanges and --seed are whole numbers above 0\n')
  process.exit(2)
}

const secret = 'bootstrap-secret-of-the-fuzzer'
const stopMsMax = 15_000
const warmUpRequests = 2_000
const warmUpExchanges = 2_000
const heapGrowthMax = 16 * 1024 * 1024
/** The server closes the streams of a disconnected peer within this time. */
const streamsEndMs = 5_000
const print = (line: string) => void process.stdout.write(`${line}\n`)

const ask = (socketPath: string, path: '/' | '/heap') =>
  new Promise<number>((resolve, reject) => {
    request({ socketPath, path }, (response) => text(response).then((told) => resolve(Number(told)), reject))
      .on('error', reject)
      .end()
  })

const mebibytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`

function reportExchange({ what, number, exchange: { kind, chunks } }: WireFound): void {
  print(`\nExchange ${number} (${kind}): ${what}`)
  print(JSON.stringify(chunks.map((chunk) => chunk.toString('latin1'))).slice(0, 20_000))
}

function report({ what, request: { number, way, caller, asked } }: Found): void {
  print(`\nRequest ${number} by ${way} of ${caller.name}: ${what}`)
  print(JSON.stringify({ query: asked.query, variables: asked.variables }).slice(0, 20_000))
}

const dataDir = await mkdtemp(join(tmpdir(), 'berth-fuzz-'))
await chmod(dataDir, 0o711) // under root the database runs as another account
const config = join(dataDir, 'berth.yaml')
await writeFile(config, 'pools: [{ name: sim, executor: simulated, nodes: [{ name: n1, cpu: 32, memoryGib: 64 }] }]\n')
const heartbeat = join(dataDir, 'heartbeat')
const server = await startBerthProcess({
  dataDir,
  port: await freePort(),
  env: {
    BERTH_CONFIG: config,
    BERTH_BOOTSTRAP_TOKEN: secret,
    FUZZ_HEARTBEAT: heartbeat,
    NODE_OPTIONS: `--import ${join(root, 'test/fuzz/heartbeat.ts')}`,
  },
})
try {
  print(`Seed ${seed}, ${requests} requests and ${exchanges} exchanges`)
  const callers = await createCallers(server.url, secret)
  const asking = { url: server.url, callers, held: () => ask(heartbeat, '/') }
  const first = await fuzz({ ...asking, seed: seed + requests, requests: warmUpRequests })
  const beforeRequests = await ask(heartbeat, '/heap')
  const { answers, ...rest } = await fuzz({ ...asking, seed, requests })
  const found = [...first.found, ...rest.found]
  await sleep(streamsEndMs)
  const afterRequests = await ask(heartbeat, '/heap')
  for (const [code, count] of Object.entries(answers).sort(([, a], [, b]) => b - a))
    print(`${String(count).padStart(8)}  ${code}`)
  print(`${requests} requests: heap ${mebibytes(beforeRequests)} before, ${mebibytes(afterRequests)} after`)
  for (const each of found) report(each)
  if (found.length > 0) print(`\nThe server's log:\n${server.output().slice(-20_000)}`)
  const wire = { url: server.url, token: secret }
  const warmUp = await fuzzWire({ ...wire, seed: seed + exchanges, exchanges: warmUpExchanges })
  const before = await ask(heartbeat, '/heap')
  const broken = [...warmUp, ...(await fuzzWire({ ...wire, seed, exchanges }))]
  for (const each of broken) reportExchange(each)
  await sleep(streamsEndMs)
  const after = await ask(heartbeat, '/heap')
  print(`${exchanges} exchanges of bytes: heap ${mebibytes(before)} before, ${mebibytes(after)} after`)
  const errors = server
    .output()
    .split('\n')
    .filter((line) => line.includes('"level":50'))
  for (const line of errors.slice(0, 10)) print(line)
  const hostile = hostileRequests(server.url, secret)
  const started = performance.now()
  const code = await server.end('SIGTERM')
  const stopMs = Math.round(performance.now() - started)
  await hostile
  print(`Ended by SIGTERM under hostile requests: code ${code}, ${stopMs} ms`)
  const grown = [afterRequests - beforeRequests, after - before].filter((bytes) => bytes > heapGrowthMax).length
  const count = found.length + broken.length + errors.length + grown
  print(`Seed ${seed}: ${count} found`)
  process.exitCode = count > 0 || code !== 0 || stopMs > stopMsMax ? 1 : 0
} finally {
  await server.end('SIGKILL')
  await rm(dataDir, { recursive: true, force: true })
}
