import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Api, connectApi } from '../support/api.ts'
import { startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { until } from '../support/until.ts'
import { withDirectory } from './directory.ts'
import { here, type Scenario } from './scenario.ts'

/**
 * The server of handlers is killed, and a new one comes later: of one handler that has done its work meanwhile, and of
 * one that goes on working, the log, progress, artifacts and closure are whole.
 */
export const handlerAway: readonly Scenario[] = [
  { name: 'handler-away', run: (context) => withDirectory((directory) => leaveAlone(directory, context)) },
]

const awaySeconds = { small: 5, full: 60 } as const
const stepsPerSecond = 10
const artifactEvery = 10

const source = `
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
export default {
  async run({ steps, seed, file }, { log, progress, saveClosure, artifact }) {
    const hash = createHash('sha256')
    for (let step = 1; step <= steps; step++) {
      const line = seed + ' – step ' + step + ' ✔ ' + 'x'.repeat((seed * step) % 5000)
      hash.update(line + '\\n')
      log(line)
      progress(step / steps, 'step ' + step)
      saveClosure({ step, text: 'é'.repeat(step % 100) })
      if (step % ${artifactEvery} === 0) artifact({ name: 'part ' + step, mediaType: 'text/plain', body: line })
      await new Promise((resolve) => setTimeout(resolve, ${1_000 / stepsPerSecond}))
    }
    writeFileSync(file, hash.digest('hex'))
  },
}`

const query = `query ($id: ID!, $from: LogStart) { job(id: $id) { state attempt closure progress { fraction message }
  artifacts(first: 100) { nodes { name run { number } body } } logs(first: 5000, from: $from) { text cursor isFinal } } }`

interface Seen {
  state: string
  attempt: number
  closure: unknown
  progress: unknown
  artifacts: { nodes: { name: string; run: { number: number }; body: string }[] }
  logs: { text: string; cursor: string; isFinal: boolean }
}

async function leaveAlone(directory: string, { seed, isFull, log }: Parameters<Scenario['run']>[0]): Promise<void> {
  const away = awaySeconds[isFull ? 'full' : 'small']
  const module = join(directory, 'steps.mjs')
  await writeFile(module, source)
  const config = join(directory, 'berth.yaml')
  await writeFile(config, 'pools: [{ name: h, executor: handler, nodes: [{ name: n1, cpu: 4, memoryGib: 4 }] }]\n')
  const dataDir = join(directory, 'data')
  await mkdir(dataDir, { mode: 0o711 })
  const port = await freePort()
  const start = () => startBerthProcess({ dataDir, port, env: { BERTH_CONFIG: config } })
  let server = await start()
  const api = connectApi(server.url)
  try {
    const works = [0.5, 1.5].map((share, at) => ({
      steps: Math.ceil(away * share * stepsPerSecond),
      seed: seed % 10_000,
      file: join(directory, `hash-${at}`),
    }))
    const ids = await Promise.all(works.map((input) => api.submit({ handler: module, input })))
    for (const id of ids)
      await until(async () => (await look(api, id)).artifacts.nodes.length > 0, {
        what: `${id} published its first part`,
      })
    await server.end('SIGKILL')
    await sleep(away * 1_000)
    server = await start()
    for (const [at, work] of works.entries()) log(await demandWhole(api, ids[at] ?? '', work))
  } finally {
    await api.close()
    await server.end()
  }
}

const look = async (api: Api, id: string, cursor?: string) =>
  (await api.ask<{ job: Seen }>(query, { id, from: cursor ? { cursor } : null })).job

async function demandWhole(api: Api, id: string, { steps, file }: { steps: number; file: string }): Promise<string> {
  const isOver = async () => {
    const job = await look(api, id)
    return !['RUNNING', 'STARTING'].includes(job.state) && job
  }
  const job = await until(isOver, { what: `${id} is over`, timeoutMs: here(60_000 + (steps / stepsPerSecond) * 1_000) })
  const text = await readLog(api, id)
  const lines = text.trimEnd().split('\n')
  const sha256 = createHash('sha256').update(text).digest('hex')
  assert.equal(sha256, await readFile(file, 'utf8'), `the log of ${id}`)
  const parts = lines.flatMap((body, at) => {
    const step = at + 1
    return step % artifactEvery === 0 ? [{ name: `part ${step}`, run: { number: 1 }, body }] : []
  })
  assert.deepEqual(job.artifacts.nodes, parts)
  assert.deepEqual(job.closure, { step: steps, text: 'é'.repeat(steps % 100) })
  assert.deepEqual(job.progress, { fraction: 1, message: `step ${steps}` })
  assert.deepEqual([job.state, job.attempt], ['SUCCEEDED', 1])
  return `${steps} steps, ${parts.length} artifacts, ${Buffer.byteLength(text)} bytes of log: ${sha256.slice(0, 16)} equal`
}

async function readLog(api: Api, id: string): Promise<string> {
  let text = ''
  for (let after: string | undefined; ; ) {
    const { logs } = await look(api, id, after)
    text += logs.text
    if (logs.isFinal || logs.cursor === after) return text
    after = logs.cursor
  }
}
