import { createHash } from 'node:crypto'
import { chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type Api, openServer } from '../support/api.ts'
import { makeDirectory } from '../support/directory.ts'
import { busyboxImage, startDocker } from '../support/docker.ts'
import { until } from '../support/until.ts'

/**
 * dockerd is restarted while jobs run (live-restore): they continue, their states are correct afterwards, and jobs that
 * still run lose no byte of output. `npm run test:executors` enables this test, as root, if dockerd and containerd are
 * installed.
 */
const isWanted = process.env['BERTH_TEST_LIVE_RESTORE'] !== undefined

interface Seen {
  state: string
  stateInfo: string | null
  exitCode: number | null
  runs: { nodes: { number: number; state: string }[] }
}

async function look(api: Api, id: string): Promise<Seen> {
  const query =
    'query ($id: ID!) { job(id: $id) { state stateInfo exitCode runs(first: 10) { nodes { number state } } } }'
  return (await api.ask<{ job: Seen }>(query, { id })).job
}

async function readLog(api: Api, id: string): Promise<string> {
  const query =
    'query ($id: ID!, $from: LogStart) { job(id: $id) { logs(first: 5000, from: $from) { text cursor isFinal } } }'
  type Page = { text: string; cursor: string; isFinal: boolean }
  let text = ''
  let page: Page | undefined
  do {
    page = (await api.ask<{ job: { logs: Page } }>(query, { id, from: page && { cursor: page.cursor } })).job.logs
    text += page.text
  } while (!page.isFinal)
  return text
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe.skipIf(!isWanted)('dockerd with live-restore', async () => {
  if (!isWanted) return
  const docker = await startDocker()
  const folder = makeDirectory()
  await chmod(folder, 0o755)
  afterAll(() => docker[Symbol.asyncDispose]())
  const config = `container: { engine: '${docker.address}', image: '${busyboxImage}' }
data: { roots: { out: ${folder} } }
pools: [{ name: here, executors: [container], nodes: [{ name: n1, cpu: 8, memoryGib: 8 }] }]
`
  const { api } = await openServer(config)

  test.each<NodeJS.Signals>(['SIGTERM', 'SIGKILL'])(
    'does not end jobs when restarted after %s',
    { timeout: 300_000 },
    async (signal) => {
      const lines = 100
      /** The first job ends while dockerd is stopped. */
      const jobs = await Promise.all(
        [1, 12, 16, 20].map(async (seconds, at) => {
          const file = `${signal}-${at}`
          const text = `i=0; while [ $i -lt ${lines} ]; do i=$((i + 1))
          echo "line $i $(head -c 600 /dev/urandom | base64 | tr -d '\\n')" | tee -a /out/${file}
          sleep ${(seconds / lines).toFixed(2)}; done; exit ${at}`
          const spec = {
            command: ['/bin/sh', '-c', text],
            data: ['out:/out'],
            resources: { memoryBytes: 64 * 2 ** 20 },
          }
          return { id: await api.submit(spec), file, exitCode: at }
        }),
      )
      for (const { id } of jobs)
        await until(
          async () => (await look(api, id)).state !== 'QUEUED' && (await look(api, id)).state !== 'STARTING',
          {
            what: 'it runs',
          },
        )
      await docker.end(signal)
      await new Promise((resolve) => setTimeout(resolve, 6_000))
      for (const { id } of jobs) expect((await look(api, id)).runs.nodes).toHaveLength(1)
      await docker.start()
      for (const { id, file, exitCode } of jobs) {
        const job = await until(
          async () => {
            const seen = await look(api, id)
            return /SUCCEEDED|FAILED|INTERRUPTED/.test(seen.state) && seen
          },
          { what: 'it is over', timeoutMs: 120_000 },
        )
        const state = exitCode === 0 ? 'SUCCEEDED' : 'FAILED'
        expect(job, job.stateInfo ?? '').toMatchObject({ state, exitCode, runs: { nodes: [{ number: 1, state }] } })
        const [log, printed] = [await readLog(api, id), await readFile(join(folder, file), 'utf8')]
        // dockerd loses output that it has not read when the container ends, and its buffers when it is killed.
        if (signal === 'SIGTERM' && exitCode > 0) expect(sha256(log)).toBe(sha256(printed))
        if (signal === 'SIGTERM') expect(printed.startsWith(log)).toBe(true)
      }
    },
  )
})
