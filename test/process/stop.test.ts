import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { type Api, connectApi, type JobAnswer, readJob, type TailAnswer, tailQuery } from '../support/api.ts'
import { freePort } from '../support/berth-server.ts'
import { makeDirectory } from '../support/directory.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'

/** Stops `npm start` by Ctrl-C: the terminal signals the process group, and npm forwards the signal. */
interface Group {
  url: string
  /** Signals every process of the group. */
  signal(signal: NodeJS.Signals): void
  /** Exit code of npm; null: a signal ended it. */
  ended: Promise<number | null>
  output(): string
}

const dataDir = makeDirectory()
let port: number
const running = new Set<Group>()

beforeAll(async () => {
  await chmod(dataDir, 0o711) // under root PostgreSQL is another user and must get in
  port = await freePort()
})
afterEach(async () => {
  for (const group of running) group.signal('SIGTERM')
  await Promise.all([...running].map(({ ended }) => ended))
})

async function npmStart(): Promise<Group> {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, BERTH_DATA_DIR: dataDir, BERTH_PORT: String(port) }
  const child = spawn('npm', ['start'], { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  const url = `http://127.0.0.1:${port}`
  const group: Group = {
    url,
    signal: (signal) => void process.kill(-(child.pid ?? 0), signal),
    // The streams end when the last process of the group ends.
    ended: once(child, 'close').then(([code]) => {
      running.delete(group)
      return code as number | null
    }),
    output: () => output,
  }
  running.add(group)
  await until(() => output.includes('is ready at'), { what: `Berth is ready:\n${output}` })
  return group
}

/** Process id of the PostgreSQL under the data directory, or undefined. */
async function postmaster(): Promise<number | undefined> {
  const files = await readdir(dataDir, { recursive: true })
  const file = files.find((path) => path.endsWith('postmaster.pid'))
  if (!file) return undefined
  return Number((await readFile(join(dataDir, file), 'utf8')).split('\n')[0])
}

/** Whether the process has ended and was reaped. */
function isGone(pid: number): boolean {
  try {
    return !process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

const counter = 'for i in $(seq 100); do echo $i; sleep 0.03; done'
const numbers = Array.from({ length: 100 }, (_, i) => `${i + 1}\n`).join('')

async function outputOf(api: Api, jobId: string): Promise<string> {
  let text = ''
  for await (const message of api.stream<TailAnswer>('tail', tailQuery, { jobId }))
    if (message.__typename === 'LogBatch') text += message.text
  return text
}

async function withApi<T>({ url }: Group, work: (api: Api) => Promise<T>): Promise<T> {
  const api = connectApi(url)
  try {
    return await work(api)
  } finally {
    await api.close()
  }
}

test('repeated signals drain the server once, and the embedded PostgreSQL stops last', async () => {
  const first = await npmStart()
  const jobId = await withApi(first, (api) => api.submit({ command: ['sh', '-c', counter] }))
  const database = await postmaster()
  expect(database).toBeGreaterThan(0)
  first.signal('SIGTERM')
  first.signal('SIGTERM')
  expect(await first.ended).toBe(0)
  expect(first.output()).not.toMatch(/"level":[56]0/)
  expect(await postmaster()).toBeUndefined()
  await until(() => isGone(database ?? 0), { what: 'PostgreSQL has ended as well' })

  const second = await npmStart()
  await withApi(second, async (api) => {
    expect(await outputOf(api, jobId)).toBe(numbers)
    expect(await readJob(api, jobId)).toMatchObject({ state: 'SUCCEEDED', version: 4 })
  })
})

test('after kill -9 of all processes, the next start continues with the same data', async () => {
  const first = await npmStart()
  const [done, going] = await withApi(first, async (api) => {
    const ended = await api.submit({ command: ['echo', 'kept'] })
    expect(await outputOf(api, ended)).toBe('kept\n')
    const jobId = await api.submit({ command: ['sh', '-c', counter] })
    await until(async () => (await readJob(api, jobId)).state === 'RUNNING', { what: 'it runs' })
    return [await jobAndId(api, ended), jobId]
  })
  first.signal('SIGKILL')
  await first.ended

  const second = await npmStart()
  await withApi(second, async (api) => {
    expect(await jobAndId(api, done.id)).toEqual(done)
    expect(await outputOf(api, done.id)).toBe('kept\n')
    expect(await outputOf(api, going)).toBe(numbers)
    expect(await readJob(api, going)).toMatchObject({
      state: 'SUCCEEDED',
      version: 4,
      runs: { nodes: [{ number: 1 }] },
    })
  })
})

const jobAndId = async (api: Api, id: string): Promise<JobAnswer & { id: string }> => ({
  id,
  ...(await readJob(api, id)),
})
