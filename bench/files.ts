import { type ChildProcess, execFile, fork } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readArchive } from '../src/domain/snapshots/archive.ts'
import { openDb } from '../src/platform/db.ts'
import { createLog } from '../src/platform/log.ts'
import type { Sent } from './files-client.ts'
import { percentile, printLines } from './harness.ts'
import { processorMs, residentBytes } from './process-usage.ts'
import { withDatabases, withFolder, withServer } from './server.ts'

/**
 * Snapshots: a folder of 50,000 files, sent, sent again, and again after a change of one; then 1 GiB (or as many MiB as
 * the first argument says) up and down beside curl and a bare server, which writes the same bytes to the same PostgreSQL.
 */
const mebibytes = Number(process.argv[2] ?? 1_024)
const rounds = Number(process.argv[3] ?? 3)
const filesMax = 50_000
const fileMebibytes = 64
const mebibyte = 2 ** 20
const run = promisify(execFile)

interface Place {
  url: string
  pid: number
  folder: string
}

async function start(file: string, ...args: string[]): Promise<{ child: ChildProcess; told: unknown }> {
  const child = fork(join(import.meta.dirname, file), args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [told] = await once(child, 'message')
  return { child, told }
}

/** The peak memory of a process during `work`, minus its memory before. */
async function watchMemory<T>(pid: number, work: () => Promise<T>): Promise<{ result: T; grownBytes: number }> {
  const before = residentBytes(pid)
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, residentBytes(pid))
  }, 50)
  try {
    return { result: await work(), grownBytes: most - before }
  } finally {
    clearInterval(timer)
  }
}

const send = async ({ url }: Place, folder: string, ...cache: string[]): Promise<Sent> =>
  (await start('files-client.ts', url, folder, ...cache)).told as Sent
const inMebibytes = (bytes: number) => `${(bytes / mebibyte).toFixed(1)} MiB`
const inSeconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`

async function measureManyFiles(place: Place): Promise<void> {
  const folder = join(place.folder, 'many')
  const old = new Date(Date.now() - 60_000)
  for (let n = 0; n < filesMax; n++) {
    const path = join(folder, String(n % 200), `${n}.txt`)
    if (n < 200) await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, `${n} ${randomBytes(1_000).toString('hex')}`)
    await utimes(path, old, old)
  }
  await new Promise((settled) => setTimeout(settled, 2_500))
  const rows: string[][] = []
  for (const name of ['first', 'again', 'one changed']) {
    if (name === 'one changed') await writeFile(join(folder, '7/7.txt'), 'changed')
    const before = processorMs(place.pid).own
    const { result, grownBytes } = await watchMemory(place.pid, () => send(place, folder, join(place.folder, 'cache')))
    const usedMs = processorMs(place.pid).own - before
    const { tookMs, serverMs, readBytes, residentBytesMax, newFiles } = result
    rows.push([
      name,
      String(newFiles),
      ...[tookMs, serverMs, usedMs].map(inSeconds),
      ...[readBytes, residentBytesMax, grownBytes].map(inMebibytes),
    ])
  }
  const heads = [
    '',
    'sent files',
    'time',
    'requests',
    'processor of server',
    'read by client',
    'memory of client',
    'growth of server',
  ]
  printLines(`${filesMax} files`, [heads, ...rows])
}

/** Random contents, which cannot be compressed and were not sent before. */
async function writeLarge(folder: string): Promise<void> {
  const content = randomBytes(fileMebibytes * mebibyte)
  await mkdir(folder, { recursive: true })
  for (let n = 0; n < mebibytes / fileMebibytes; n++) {
    content.write(randomUUID())
    await writeFile(join(folder, `${n}.bin`), content)
  }
}

async function curl(...args: string[]): Promise<number> {
  const began = performance.now()
  await run('curl', ['-sSf', '-o', '/dev/null', ...args])
  return performance.now() - began
}

async function readDown(databaseUrl: string, snapshotId: string): Promise<number> {
  const db = openDb({
    address: { url: databaseUrl },
    connectionsMax: 2,
    log: createLog('error'),
    applicationName: 'bench',
  })
  const began = performance.now()
  let bytes = 0
  for await (const part of readArchive(db.sql, snapshotId, { mtime: new Date() })) bytes += part.length
  const tookMs = performance.now() - began
  await db.close()
  if (bytes < mebibytes * mebibyte) throw new Error(`The archive has ${bytes} bytes`)
  return tookMs
}

async function measureLarge(place: Place, databaseUrl: string, bareUrl: string): Promise<void> {
  if (mebibytes === 0) return
  const tookMs: Record<string, number[]> = {}
  const grown: number[] = []
  const clients: number[] = []
  const note = (name: string, ms: number) => {
    tookMs[name] = [...(tookMs[name] ?? []), ms]
  }
  for (let round = 0; round < rounds; round++) {
    const folder = join(place.folder, `large-${round}`)
    await writeLarge(folder)
    const whole = join(place.folder, 'whole')
    await run('sh', ['-c', `cat ${folder}/*.bin >${whole}`])
    note('curl -T to the bare server', await curl('-T', whole, `${bareUrl}/${round}`))
    const { result, grownBytes } = await watchMemory(place.pid, () => send(place, folder))
    note('berth up', result.tookMs)
    grown.push(grownBytes)
    clients.push(result.residentBytesMax)
    note('curl from the bare server', await curl(`${bareUrl}/${round}`))
    note('berth down, as an archive', await readDown(databaseUrl, result.id))
    await run('rm', ['-r', folder, whole])
  }
  const medians = Object.entries(tookMs).map(([name, values]) => ({ name, ms: percentile(values, 0.5) }))
  const rows = medians.map(({ name, ms }, at) => {
    const bare = medians[at - (at % 2)]?.ms ?? ms
    return [name, inSeconds(ms), `${((mebibytes * 1_000) / ms).toFixed(0)} MiB/s`, `${(bare / ms).toFixed(2)} ×`]
  })
  printLines(`${mebibytes} MiB`, [['', 'time', 'rate', 'ratio'], ...rows])
  process.stdout.write(
    `memory: the server grew by ${inMebibytes(Math.max(...grown))}, the client had ${inMebibytes(Math.max(...clients))}\n`,
  )
}

await withDatabases(['berth', 'bare'], async (urls) => {
  const databaseUrl = urls.get('berth') ?? ''
  const { child, told } = await start('bare-files.ts', urls.get('bare') ?? '')
  const config = 'files: { userBytesMax: 1099511627776, snapshotBytesMax: 1099511627776 }'
  await withFolder((folder) =>
    withServer(
      async (url, pid) => {
        await measureManyFiles({ url, pid, folder })
        await measureLarge({ url, pid, folder }, databaseUrl, String(told))
      },
      { DATABASE_URL: databaseUrl },
      config,
    ),
  )
  child.disconnect()
})
