import assert from 'node:assert/strict'
import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { residentBytes } from '../../bench/process-usage.ts'
import { Random } from '../../simulate/random.ts'
import { createClient } from '../../src/client/jobs/client.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { startPostgres } from '../../src/platform/postgres/postgres.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { startProxy } from '../support/proxy.ts'
import { withDirectory } from './directory.ts'
import type { Scenario } from './scenario.ts'

/**
 * The output of a real job, with colours, characters that span chunks, lines of megabytes and both kinds of line ends,
 * tailed by the shipped client through cuts, from the server that runs the job and from another one. The bytes are the
 * same, and the memory of all three processes does not grow with the log.
 */
export const logs: readonly Scenario[] = [
  { name: 'long-log', run: (context) => withDirectory((directory) => tailLongLog(directory, context)) },
]

const mib = 2 ** 20
const sizes = {
  small: { bytes: 24 * mib, longLine: mib },
  full: { bytes: 1_024 * mib, longLine: 10 * mib },
} as const
const reconnects = 20
/** Maximum growth of a process's memory after the first part of the log. */
const growthMax = 192 * mib

async function tailLongLog(directory: string, { seed, isFull, log }: Parameters<Scenario['run']>[0]): Promise<void> {
  const size = sizes[isFull ? 'full' : 'small']
  const file = join(directory, 'output')
  const written = await writeOutput(file, new Random(seed), size)
  const postgres = await startPostgres({ dataDir: directory, log: createLog('error'), clock: systemClock })
  const config = join(directory, 'berth.yaml')
  await writeFile(config, 'pools: [{ name: local, executor: local, nodes: [{ name: n1, cpu: 4, memoryGib: 4 }] }]\n')
  const running: BerthProcess[] = []
  try {
    for (const roles of ['all', 'api']) {
      const dataDir = join(directory, roles)
      await mkdir(dataDir)
      await chmod(dataDir, 0o711) // under root jobs run as another account
      const env = { DATABASE_URL: postgres.url, BERTH_CONFIG: config, ...(roles === 'api' && { BERTH_ROLES: roles }) }
      running.push(await startBerthProcess({ dataDir, env }))
    }
    const memory = await readThroughCuts({ running, file, written, size: size.bytes })
    log(`${written.bytes} bytes, ${reconnects} reconnects, two switches of server: equal; MiB ${memory}`)
  } finally {
    await Promise.all(running.map((server) => server.end('SIGKILL')))
    await postgres.stop()
  }
}

interface Written {
  bytes: number
  sha256: string
}

async function writeOutput(file: string, random: Random, { bytes, longLine }: { bytes: number; longLine: number }) {
  const sink = createWriteStream(file)
  const hash = createHash('sha256')
  let count = 0
  for (let n = 0; count < bytes; n++) {
    const text = n % 400 === 399 ? `${'0123456789 ✔ '.repeat(longLine / 16)}\n` : lines(random)
    const part = Buffer.from(text)
    hash.update(part)
    count += part.length
    if (!sink.write(part)) await once(sink, 'drain')
  }
  sink.end()
  await once(sink, 'finish')
  return { bytes: count, sha256: hash.digest('hex') }
}

/** Some kilobytes with an odd length, so that chunks end at every position. */
function lines(random: Random): string {
  const words = [
    'error',
    '漢字',
    '🚀🧑‍🚀',
    'e\u0301',
    '\u001b[1;31mred\u001b[0m',
    '\u001b]0;title\u0007',
    '"quoted\\"',
    '\t',
    'x'.repeat(97),
  ] as const
  return Array.from({ length: 100 }, () => `${random.of(words)} ${random.of(words)}${random.of(['\n', '\r\n'])}`).join(
    '',
  )
}

interface Reading {
  running: readonly BerthProcess[]
  file: string
  written: Written
  size: number
}

/** Returns the peak memory of both servers and of this process. */
async function readThroughCuts({ running, file, written, size }: Reading): Promise<string> {
  const urls = running.map(({ url }) => url)
  const proxy = await startProxy(urls[0] ?? '')
  const client = createClient({ url: proxy.url, sleep: () => new Promise((resolve) => setTimeout(resolve, 20)) })
  const pids = [...running.map(({ pid }) => pid), process.pid]
  const memory = createMemory(pids)
  try {
    const answer = await client.submit({ spec: { command: ['/bin/cat', file] } })
    if (answer.__typename !== 'SubmitJobSuccess') throw new Error(JSON.stringify(answer))
    const hash: Hash = createHash('sha256')
    let bytes = 0
    let cuts = 0
    for await (const part of client.tail(answer.job.id)) {
      if (part.__typename !== 'LogBatch') throw new Error(JSON.stringify(part))
      hash.update(part.text)
      bytes += Buffer.byteLength(part.text)
      if (cuts === reconnects || bytes < ((cuts + 1) * size) / (reconnects + 1)) continue
      cuts += 1
      await memory.look()
      proxy.moveTo(urls[cuts >= reconnects / 3 && cuts < (reconnects * 2) / 3 ? 1 : 0] ?? '')
      proxy.cut()
    }
    assert.deepEqual({ bytes, sha256: hash.digest('hex') }, written)
    assert.equal(cuts, reconnects)
    return memory.demandFlat()
  } finally {
    await client.close()
    await proxy.close()
  }
}

/** The first measurements are of processes that still load their code. */
const looksToWarmUp = 8

function createMemory(pids: readonly number[]) {
  const looks: number[][] = []
  return {
    async look() {
      looks.push(pids.map(residentBytes))
    },
    demandFlat(): string {
      const peak = (from: number, to: number) =>
        pids.map((_, n) => Math.max(...looks.slice(from, to).map((each) => each[n] ?? 0)))
      const [first, last] = [peak(0, looksToWarmUp), peak(looksToWarmUp, looks.length)]
      for (const [n, bytes] of last.entries())
        assert.ok(bytes - (first[n] ?? 0) < growthMax, `process ${n} grew: ${looks.map((each) => each[n])}`)
      return last.map((bytes, n) => `${Math.round((first[n] ?? 0) / mib)} → ${Math.round(bytes / mib)}`).join(', ')
    },
  }
}
