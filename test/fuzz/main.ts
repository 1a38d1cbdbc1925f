import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { freePort, startBerth } from '../support/berth-process.ts'
import { root } from '../support/sources.ts'
import { type Found, fuzz } from './fuzz.ts'
import { hostileRequests } from './hostile.ts'
import { callersOf } from './people.ts'

/**
 * npm run fuzz -- --requests 40000 --seed 42
 *
 * Prints the answers by code, and each request that was not answered as it must be. Exits with 1 when there is one, or
 * when the server does not end by SIGTERM while it works on hostile requests.
 */
const { values } = parseArgs({
  options: { requests: { type: 'string', default: '40000' }, seed: { type: 'string' } },
})

const seedMax = 2 ** 31
const seed = values.seed === undefined ? Math.ceil(Math.random() * seedMax) : Number(values.seed)
const requests = Number(values.requests)
if (![seed, requests].every((value) => Number.isInteger(value) && value > 0)) {
  process.stderr.write('--requests and --seed are whole numbers above 0\n')
  process.exit(2)
}

const secret = 'bootstrap-secret-of-the-fuzzer'
const stopMsMax = 15_000
const print = (line: string) => void process.stdout.write(`${line}\n`)

const ask = (socketPath: string) =>
  new Promise<number>((resolve, reject) => {
    request({ socketPath }, (response) => text(response).then((ms) => resolve(Number(ms)), reject))
      .on('error', reject)
      .end()
  })

function report({ what, request: { number, way, caller, asked } }: Found): void {
  print(`\nRequest ${number} by ${way} of ${caller.name}: ${what}`)
  print(JSON.stringify({ query: asked.query, variables: asked.variables }).slice(0, 20_000))
}

const dataDir = await mkdtemp(join(tmpdir(), 'berth-fuzz-'))
await chmod(dataDir, 0o711) // under root the database runs as another account
const config = join(dataDir, 'berth.yaml')
await writeFile(config, 'pools: [{ name: sim, executor: simulated, nodes: [{ name: n1, cpu: 32, memoryGib: 64 }] }]\n')
const heartbeat = join(dataDir, 'heartbeat')
const server = await startBerth({
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
  print(`Seed ${seed}, ${requests} requests`)
  const callers = await callersOf(server.url, secret)
  const { answers, found } = await fuzz({ url: server.url, callers, seed, requests, held: () => ask(heartbeat) })
  for (const [code, count] of Object.entries(answers).sort(([, a], [, b]) => b - a))
    print(`${String(count).padStart(8)}  ${code}`)
  for (const each of found) report(each)
  if (found.length > 0) print(`\nThe server's log:\n${server.output().slice(-20_000)}`)
  const hostile = hostileRequests(server.url, secret)
  const started = performance.now()
  const code = await server.end('SIGTERM')
  const stopMs = Math.round(performance.now() - started)
  await hostile
  print(`Ended by SIGTERM under hostile requests: code ${code}, ${stopMs} ms`)
  print(`Seed ${seed}: ${found.length} found`)
  process.exitCode = found.length > 0 || code !== 0 || stopMs > stopMsMax ? 1 : 0
} finally {
  await server.end('SIGKILL')
  await rm(dataDir, { recursive: true, force: true })
}
