import { afterAll, describe, expect, test } from 'vitest'
import { type Api, openServer } from '../support/api.ts'
import { busyboxImage, startDocker } from '../support/docker.ts'
import { until } from '../support/until.ts'

/**
 * Stops dockerd without live-restore, which ends the running jobs. `npm run test:executors` enables this test, as root,
 * if dockerd and containerd are installed.
 */
const isWanted = process.env['BERTH_TEST_LIVE_RESTORE'] !== undefined

interface Seen {
  state: string
  stateReason: string | null
  exitCode: number | null
  runs: { nodes: { number: number; state: string; stateReason: string | null }[] }
  logs: { text: string }
}

async function look(api: Api, id: string): Promise<Seen> {
  const query = `query ($id: ID!) { job(id: $id) { state stateReason exitCode logs(first: 100) { text }
    runs(first: 10) { nodes { number state stateReason } } } }`
  return (await api.ask<{ job: Seen }>(query, { id })).job
}

describe.skipIf(!isWanted)('dockerd without live-restore', async () => {
  if (!isWanted) return
  const docker = await startDocker({ liveRestore: false })
  afterAll(() => docker[Symbol.asyncDispose]())
  const config = `container: { engine: '${docker.address}', image: '${busyboxImage}' }
pools: [{ name: here, executors: [container], nodes: [{ name: n1, cpu: 8, memoryGib: 8 }] }]
`
  const { api } = await openServer(config)
  const submit = (text: string, restartable: boolean) =>
    api.submit({ command: ['/bin/sh', '-c', text], restartable, resources: { memoryBytes: 64 * 2 ** 20 } })
  const untilSeen = (id: string, what: string, is: (job: Seen) => boolean) =>
    until(
      async () => {
        const job = await look(api, id)
        return is(job) && job
      },
      { what, timeoutMs: 120_000 },
    )

  test.each<NodeJS.Signals>(['SIGTERM', 'SIGKILL'])(
    'that gets %s interrupts its jobs, and the restartable jobs run again',
    { timeout: 300_000 },
    async (signal) => {
      const wait = 'echo "run $BERTH_RUN"; [ "$BERTH_RUN" = 1 ] || exit 0'
      const plain = await submit(`${wait}; exec sleep 1000`, true)
      const deaf = await submit(`${wait}; trap '' TERM; while :; do sleep 0.1; done`, true)
      const graceful = await submit(`${wait}; trap 'exit 0' TERM; while :; do sleep 0.1; done`, true)
      const once = await submit(`${wait}; exec sleep 1000`, false)
      const failed = await submit('exit 143', true)
      for (const id of [plain, deaf, graceful, once])
        await untilSeen(id, 'it runs', ({ logs }) => logs.text === 'run 1\n')
      await untilSeen(failed, 'it is over', ({ state }) => state === 'FAILED')
      await docker.end(signal)
      await docker.start()
      for (const id of [plain, deaf, graceful])
        expect(await untilSeen(id, 'it is over', ({ state }) => state === 'SUCCEEDED')).toMatchObject({
          runs: {
            nodes: [
              { number: 1, state: 'INTERRUPTED', stateReason: 'NODE_LOST' },
              { number: 2, state: 'SUCCEEDED' },
            ],
          },
          logs: { text: expect.stringMatching(/^run 1\n(Terminated\n)?run 2\n$/) },
        })
      expect(await untilSeen(once, 'it is over', ({ state }) => state === 'INTERRUPTED')).toMatchObject({
        stateReason: 'NODE_LOST',
        runs: { nodes: [{ number: 1 }] },
      })
      expect(await look(api, failed)).toMatchObject({
        state: 'FAILED',
        exitCode: 143,
        runs: { nodes: [{ number: 1 }] },
      })
    },
  )
})
