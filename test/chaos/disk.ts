import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../simulate/random.ts'
import { type Api, connectApi, readJob } from '../support/api.ts'
import { startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { ask } from '../support/client.ts'
import { findFault, numberedLines, readLog } from '../support/numbered-lines.ts'
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { stopDatabase } from '../support/stopped-database.ts'
import { until } from '../support/until.ts'
import { type Scenario, Skipped, scaleByLoad } from './scenario.ts'

/** A server whose database and spool share a disk, which fills up while jobs print and users submit. */
export const disk: readonly Scenario[] = [{ name: 'disk-full', run: fillDisk }]

type Context = Parameters<Scenario['run']>[0]

const diskMegabytes = 512
/** Each job uses a core, and all of them must run at once. */
const jobsPerRound = Math.min(3, availableParallelism())
const linesMax = 20_000
const fullMsMax = 5_000
/** A full disk stops PostgreSQL only when it needs another WAL segment. */
const crashChance = 0.3
/** Time to recover after the disk has free space again. */
const healedMsMax = 60_000

async function fillDisk({ seed, seconds, log }: Context): Promise<void> {
  await using small = await mountSmallDisk(diskMegabytes)
  if (!small) throw new Skipped('no file system can be mounted here: that takes root, and CAP_SYS_ADMIN in a container')
  const dataDir = join(small.path, 'data')
  await mkdir(dataDir, { mode: 0o711 })
  const signals = await mkdtemp(join(tmpdir(), 'berth-chaos-signals-'))
  const server = await startBerthProcess({ dataDir, port: await freePort() })
  const api = connectApi(server.url)
  try {
    const random = new Random(seed)
    const endsMs = performance.now() + seconds * 1_000
    const counts = { rounds: 0, refused: 0, gaps: 0 }
    while (performance.now() < endsMs) {
      const go = join(signals, `go-${++counts.rounds}`)
      const { refused, gaps } = await playRound({ api, url: server.url, dataDir, disk: small, random, go })
      counts.refused += refused
      counts.gaps += gaps
    }
    log(`${counts.rounds} rounds, ${counts.refused} submissions refused, ${counts.gaps} gaps`)
    assert.equal(await server.end(), 0, server.output())
    assert.doesNotMatch(server.output(), /"stack"/)
  } finally {
    await api.close()
    await server.end('SIGKILL')
    await rm(signals, { recursive: true, force: true })
  }
}

interface Round {
  api: Api
  url: string
  dataDir: string
  disk: SmallDisk
  random: Random
  /** The jobs print once this file exists. */
  go: string
}

async function playRound({ api, url, dataDir, disk, random, go }: Round) {
  const count = random.between(100, linesMax)
  const command = ['sh', '-c', numberedLines(count), 'sh', go]
  const ids = await api.submitAll(Array.from({ length: jobsPerRound }, () => ({ command })))
  const reach = async (id: string, state: string) =>
    until(async () => (await readJob(api, id)).state === state, {
      what: `${id} is ${state}`,
      timeoutMs: scaleByLoad(healedMsMax),
    })
  for (const id of ids) await reach(id, 'RUNNING')

  await disk.fill()
  await writeFile(go, '')
  if (random.chance(crashChance)) await stopDatabase(dataDir)
  const freeAtMs = performance.now() + random.between(0, fullMsMax)
  let refused = 0
  while (performance.now() < freeAtMs) {
    const answer = await submitSome(url)
    if (answer?.job) ids.push(answer.job.id)
    else refused += 1
    await sleep(100)
  }
  await disk.free()

  for (const id of ids) await reach(id, 'SUCCEEDED')
  let gaps = 0
  for (const id of ids.slice(0, jobsPerRound)) {
    const written = await readLog(api, id)
    assert.equal(findFault(written, count), null, id)
    gaps += written.gaps.length
  }
  const isReady = async () => (await fetch(`${url}/readyz`)).ok
  await until(isReady, { what: 'the server is ready', timeoutMs: scaleByLoad(healedMsMax) })
  return { refused, gaps }
}

async function submitSome(url: string): Promise<{ job?: { id: string } } | undefined> {
  const query = `mutation ($spec: JobSpecInput!) { submitJob(input: { spec: $spec }) {
    ... on SubmitJobSuccess { job { id } } ... on Problem { code message } } }`
  const { data } = await ask(url, query, { spec: { command: ['true', 'x'.repeat(20_000)] } })
  const answer = data?.['submitJob'] as { job?: { id: string }; code?: string; message?: string } | undefined
  if (answer && !answer.job) assert.equal(answer.code, 'UNAVAILABLE', answer.message)
  return answer
}
