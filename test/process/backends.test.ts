import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, connectApi } from '../support/api.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { until } from '../support/until.ts'

/**
 * Guarantees for every backend, with a real server: states, exit codes, times, and repeated kills of the server. `npm
 * run test:executors` selects the backends.
 */
const isLocal = process.env['BERTH_TEST_LOCAL'] !== undefined
const conf = process.env['BERTH_TEST_SLURM']
const engine = process.env['BERTH_TEST_ENGINE']
const kubeconfig = process.env['BERTH_TEST_KUBERNETES']

const graceSeconds = 3
const small = { cpu: 0.05, memoryBytes: 64 * 2 ** 20 }
const scheduling = `scheduling: { graceSeconds: ${graceSeconds} }`

interface Backend {
  /** Configuration of a pool over files in the folder. */
  configOf(folder: string): string
  environment?: Record<string, string>
  /** The path of the folder inside of jobs. */
  seen(folder: string): string
  spec: object
}

const inContainers: Omit<Backend, 'configOf'> = {
  seen: () => '/d',
  spec: { data: ['data:/d'], resources: small },
}

const backends: Record<string, Backend | null> = {
  local: isLocal
    ? {
        configOf: () => `
pools: [{ name: here, executors: [local], ${scheduling}, nodes: [{ name: n1, cpu: 4, memoryGib: 4 }] }]`,
        seen: (folder) => folder,
        spec: { workdir: '/', resources: small },
      }
    : null,
  container: engine
    ? {
        ...inContainers,
        configOf: (folder) => `
container: { engine: '${engine}', image: 'localhost/bb:1' }
data: { roots: { data: '${folder}' } }
pools: [{ name: here, executors: [container], ${scheduling}, nodes: [{ name: n1, cpu: 4, memoryGib: 4 }] }]`,
      }
    : null,
  slurm: conf
    ? {
        configOf: (folder) => `
pools: [{ name: cluster, executor: slurm, sharedDir: '${folder}', ${scheduling} }]
queues: [{ name: main, pool: cluster }, { name: late, pool: cluster, native: { partition: main, begin: now+6 } }]`,
        environment: { SLURM_CONF: conf },
        seen: (folder) => folder,
        spec: { workdir: '/', resources: { memoryBytes: small.memoryBytes } },
      }
    : null,
  kubernetes: kubeconfig
    ? {
        ...inContainers,
        configOf: (folder) => `
server: { publicUrl: 'http://127.0.0.1:1' }
kubernetes: { kubeconfig: '${kubeconfig}', image: 'localhost/bb:1' }
data: { roots: { data: '${folder}' } }
pools: [{ name: cluster, executors: [kubernetes], ${scheduling} }]`,
      }
    : null,
}

const query = `query ($id: ID!) { job(id: $id) { state stateReason exitCode
  runs(first: 10) { nodes { number startedAt finishedAt } }
  events(first: 100) { nodes { to psijState detail { ... on StateChangeDetail { nativeId } } } } } }`

interface Seen {
  state: string
  stateReason: string | null
  exitCode: number | null
  runs: { nodes: { number: number; startedAt: string | null; finishedAt: string | null }[] }
  events: { nodes: { to: string | null; psijState: string | null; detail: { nativeId?: string | null } | null }[] }
}

const finals = ['SUCCEEDED', 'FAILED', 'INTERRUPTED', 'CANCELLED']

describe.each(Object.entries(backends))('jobs on %s', { timeout: 600_000 }, (name, backend) => {
  if (backend === null) {
    process.stderr.write(`SKIPPED: a server over ${name}; "npm run test:executors" runs it\n`)
    return test.skip('are not tested: the backend is missing')
  }
  const folder = makeDirectory()
  let port: number
  let database: TestDatabase
  let server: BerthProcess
  let api: Api
  const start = () =>
    startBerthProcess({
      dataDir: join(folder, 'own'),
      port,
      env: { DATABASE_URL: database.url, BERTH_CONFIG: join(folder, 'berth.yaml'), ...backend.environment },
    })

  beforeAll(async () => {
    await chmod(folder, 0o711)
    await mkdir(join(folder, 'own'), { mode: 0o711 })
    await mkdir(join(folder, 'marks'))
    await writeFile(join(folder, 'berth.yaml'), backend.configOf(folder))
    database = await createDatabase()
    port = await freePort()
    server = await start()
    api = connectApi(server.url)
  })
  afterAll(async () => {
    await api.close()
    await server.end()
    await database.close()
  })

  const look = async (id: string) => (await api.ask<{ job: Seen }>(query, { id })).job
  const ended = (id: string) =>
    until(
      async () => {
        const job = await look(id)
        return finals.includes(job.state) && job
      },
      { what: `${id} is over`, timeoutMs: 240_000 },
    )
  const sh = (text: string, more: object = {}) => ({ command: ['/bin/sh', '-c', text], ...backend.spec, ...more })
  const psij = ({ events }: Seen) => events.nodes.flatMap(({ psijState }) => psijState ?? [])

  /** Reads the whole log right after the job was reported as final. */
  async function wholeLog(id: string): Promise<string> {
    const pages =
      'query ($id: ID!, $from: LogStart) { job(id: $id) { logs(first: 5000, from: $from) { text cursor isFinal } } }'
    type Page = { text: string; cursor: string; isFinal: boolean }
    let text = ''
    for (let page: Page = { text: '', cursor: '', isFinal: false }; !page.isFinal; ) {
      page = (await api.ask<{ job: { logs: Page } }>(pages, { id, from: page.cursor ? { cursor: page.cursor } : null }))
        .job.logs
      text += page.text
    }
    return text
  }

  test('end with the expected exit code, states and complete output', async () => {
    const lines = 'i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); echo "line $i"; done; '
    const cases: [object, number][] = [
      [sh(`${lines}exit 0`), 0],
      [sh(`${lines}exit 7`), 7],
      [{ ...sh(''), command: ['/no/such/command'] }, 127],
      [{ ...sh(''), command: ['/etc/passwd'] }, 126],
      [sh(`trap 'exit 5' TERM; ${lines}kill -TERM $$`), 5],
      [sh(`${lines}kill -TERM $$`), 143],
      [sh(`${lines}kill -KILL $$`), 137],
    ]
    const ids = await api.submitAll(cases.map(([spec]) => spec as Record<string, unknown>))
    const expected = Array.from({ length: 2000 }, (_, index) => `line ${index + 1}\n`).join('')
    for (const [index, id] of ids.entries()) {
      const code = cases[index]?.[1]
      const job = await ended(id)
      expect(job).toMatchObject({ state: code === 0 ? 'SUCCEEDED' : 'FAILED', exitCode: code })
      expect(psij(job)).toEqual(['QUEUED', 'ACTIVE', code === 0 ? 'COMPLETED' : 'FAILED'])
      expect(job.events.nodes.at(-1)?.detail?.nativeId).toMatch(/./)
      if (code !== 127 && code !== 126) expect((await wholeLog(id)).endsWith(expected)).toBe(true)
    }
  })

  test('are FAILED without an exit code if their workdir is missing', async () => {
    const job = await ended(await api.submit(sh('echo no', { workdir: '/no/such/directory' })))
    expect(job).toMatchObject({ state: 'FAILED', stateReason: 'WORKDIR_NOT_FOUND', exitCode: null })
    expect(psij(job).at(-1)).toBe('FAILED')
  })

  test('are CANCELLED once by a cancellation', async () => {
    const id = await api.submit(sh('echo begun; sleep 600'))
    await until(async () => (await look(id)).state === 'RUNNING', { what: 'it runs' })
    await api.ask('mutation ($id: ID!) { cancelJob(input: { jobId: $id }) { __typename } }', { id })
    const job = await ended(id)
    expect(job).toMatchObject({ state: 'CANCELLED' })
    expect(psij(job)).toEqual(['QUEUED', 'ACTIVE', 'CANCELED'])
  })

  test('that ignore TERM are killed with their children after the grace period', async () => {
    const mark = join(backend.seen(folder), 'marks', 'children')
    const text = `trap '' TERM; (trap '' TERM; while :; do echo x >>${mark}; sleep 0.1; done) & while :; do sleep 0.1; done`
    const job = await ended(await api.submit(sh(text, { maxRunTimeSeconds: 3 })))
    expect(job).toMatchObject({ state: 'FAILED', stateReason: 'MAX_RUN_TIME' })
    const [run] = job.runs.nodes
    const ranMs = Date.parse(run?.finishedAt ?? '') - Date.parse(run?.startedAt ?? '')
    expect(ranMs).toBeGreaterThanOrEqual(3_000)
    expect(ranMs).toBeLessThan(60_000)
    const size = async () => (await readFile(join(folder, 'marks', 'children'))).length
    const before = await size()
    await setTimeout(500)
    expect(await size()).toBe(before)
  })

  test.runIf(name === 'slurm')('do not count the time in the queue of Slurm as run time', async () => {
    const id = await api.submit(sh('sleep 1', { maxRunTimeSeconds: 3, queue: 'late' }))
    expect(await ended(id)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 })
  })

  test('that end by themselves at their time limit have their own exit codes', async () => {
    const codes = [0, 5, 6, 7, 8]
    const own = (code: number) => sh(`trap 'exit ${code}' TERM; while :; do sleep 0.05; done`, { maxRunTimeSeconds: 3 })
    const jobs = await Promise.all((await api.submitAll(codes.map(own))).map(ended))
    const expected = codes.map((exitCode) => ({ state: 'FAILED', stateReason: 'MAX_RUN_TIME', exitCode }))
    expect(jobs).toMatchObject(expected)
  })

  test('survive three kills of the server: 20 jobs have one run each, and every byte once', async () => {
    const jobs = Array.from({ length: 20 }, (_, index) => index)
    const ticks = 100
    const filler = 'x'.repeat(80)
    const marks = join(backend.seen(folder), 'marks')
    const ids = await api.submitAll(
      jobs.map((index) =>
        sh(
          `echo x >>${marks}/job-${index}; i=0
          while [ $i -lt ${ticks * 10} ]; do
            i=$((i + 1)); echo "${index} $i ${filler}"; [ $((i % 10)) != 0 ] || sleep 0.2
          done; exit ${index % 3}`,
        ),
      ),
    )
    await until(async () => (await readdir(join(folder, 'marks'))).length > 5, {
      what: 'some began',
    })
    for (let kill = 0; kill < 3; kill++) {
      await setTimeout(3_000)
      await server.end('SIGKILL')
      await setTimeout(10_000)
      server = await start()
    }
    for (const [index, id] of ids.entries()) {
      const job = await ended(id)
      expect(job).toMatchObject({ state: index % 3 === 0 ? 'SUCCEEDED' : 'FAILED', exitCode: index % 3 })
      expect(job.runs.nodes).toHaveLength(1)
      const expected = Array.from({ length: ticks * 10 }, (_, line) => `${index} ${line + 1} ${filler}\n`).join('')
      expect((await wholeLog(id)) === expected, `the output of job ${index}`).toBe(true)
      expect(await readFile(join(folder, 'marks', `job-${index}`), 'utf8')).toBe('x\n')
    }
  })
})
