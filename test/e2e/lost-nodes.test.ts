import { execFile } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { Engine } from '../../src/executors/container/engine.ts'
import { ensureNetworks } from '../../src/executors/container/network.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { type Api, openServer } from '../support/api.ts'
import { makeDirectory } from '../support/directory.ts'
import { busyboxPost } from '../support/inside.ts'
import { startProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'

/**
 * A resumable job that saves a closure each second loses its node, on real backends, and continues as run 2 from its
 * closure. `npm run test:executors` names the backends.
 */
const conf = process.env['BERTH_TEST_SLURM']
const engineAddress = process.env['BERTH_TEST_ENGINE']
const steps = 12

/** `post` sends "$1" to the server with the token of the run. */
const resumable = (post: string) => `
n=0
[ -z "$BERTH_CLOSURE" ] || n=$(tr -dc 0-9 <"$BERTH_CLOSURE")
echo "run $BERTH_RUN begins at $n"
while [ "$n" -lt ${steps} ]; do
  n=$((n + 1))
  set -- '{"query":"mutation { saveClosure(input: {closure: {n: '$n'}}) { __typename } }"}'
  ${post} >/dev/null || echo 'not saved'
  sleep 1
done`

interface Seen {
  state: string
  closure: { n: number } | null
  runs: {
    nodes: { number: number; state: string; stateReason: string | null; nativeId: string; nodeNames: string[] }[]
  }
  logs: { text: string }
}

const query = `query ($id: ID!) { job(id: $id) { state closure logs(first: 5000) { text }
  runs(first: 10) { nodes { number state stateReason nativeId nodeNames } } } }`

async function look(api: Api, id: string): Promise<Seen> {
  return (await api.ask<{ job: Seen }>(query, { id })).job
}

const untilSeen = (api: Api, id: string, what: string, is: (job: Seen) => boolean): Promise<Seen> =>
  until(
    async () => {
      const job = await look(api, id)
      return is(job) ? job : null
    },
    { what, timeoutMs: 120_000 },
  )

/** Submits the job, removes its node after some saved steps, and returns the ended job. */
async function goOn(api: Api, spec: object, takeAway: (run: Seen['runs']['nodes'][number]) => Promise<unknown>) {
  const id = await api.submit({ ...spec, resumable: true, restartable: false })
  const before = await untilSeen(api, id, 'it has saved three steps', ({ closure }) => (closure?.n ?? 0) >= 3)
  const [first] = before.runs.nodes
  if (!first) throw new Error('A job without a run')
  await takeAway(first)
  const after = await untilSeen(api, id, 'it is over', ({ state }) => /SUCCEEDED|FAILED|INTERRUPTED/.test(state))
  expect(after).toMatchObject({
    state: 'SUCCEEDED',
    closure: { n: steps },
    runs: {
      nodes: [
        { number: 1, state: 'INTERRUPTED', stateReason: 'NODE_LOST' },
        { number: 2, state: 'SUCCEEDED' },
      ],
    },
  })
  const began = Number(after.logs.text.match(/^run 2 begins at (\d+)$/m)?.[1])
  expect(began).toBeGreaterThanOrEqual(before.closure?.n ?? 0)
  expect(after.logs.text).not.toContain('not saved')
  return { first, second: after.runs.nodes[1] }
}

describe.skipIf(conf === undefined)('a resumable job on Slurm', async () => {
  if (conf === undefined) return
  const sharedDir = makeDirectory()
  await chmod(sharedDir, 0o711)
  const config = `pools: [{ name: cluster, executor: slurm, sharedDir: ${sharedDir} }]\nqueues: [{ name: main, pool: cluster }]\n`
  const { api } = await openServer(config, { SLURM_CONF: conf })
  const scontrol = (node: string, state: string) =>
    promisify(execFile)('scontrol', ['update', `nodename=${node}`, `state=${state}`, 'reason=test'], {
      env: { ...process.env, SLURM_CONF: conf },
    })

  test('continues on the other node if its node is down', { timeout: 300_000 }, async () => {
    const post = `echo "authorization: Bearer $BERTH_TOKEN" | curl -sf "$BERTH_URL/graphql" -H @- -H 'content-type: application/json' -d "$1"`
    const spec = { command: ['/bin/sh', '-c', resumable(post)], workdir: '/', resources: { memoryBytes: 64 * 2 ** 20 } }
    let down = ''
    try {
      const { first, second } = await goOn(api, spec, async ({ nodeNames: [node = ''] }) => {
        down = node
        // A node that was set down, but not drained, returns as soon as its daemon reports.
        await scontrol(node, 'drain')
        await scontrol(node, 'down')
      })
      expect([first.nodeNames[0], second?.nodeNames[0]].toSorted()).toEqual(['n1', 'n2'])
    } finally {
      await scontrol(down, 'resume')
    }
  })
})

describe.skipIf(engineAddress === undefined)('a resumable job in a container', async () => {
  if (engineAddress === undefined) return
  const engine = new Engine(engineAddress, systemClock)
  await ensureNetworks(engine)
  const { IPAM: addresses } = await engine.get<{ IPAM: { Config: { Gateway: string }[] } }>('/networks/berth')
  // The server listens on loopback only.
  const proxy = await startProxy('http://127.0.0.1:1', addresses.Config[0]?.Gateway)
  afterAll(() => proxy.close())
  const config = `server: { publicUrl: '${proxy.url}' }
container: { engine: '${engineAddress}', image: 'localhost/bb:1' }
pools: [{ name: here, executors: [container], nodes: [{ name: n1, cpu: 4, memoryGib: 4 }] }]
`
  const { api, server } = await openServer(config)
  proxy.moveTo(server.url)

  test('continues in a new container if its container was removed', { timeout: 300_000 }, async () => {
    const script = busyboxPost + resumable('post "$1" | grep -q SaveClosureSuccess')
    const spec = { command: ['/bin/sh', '-c', script], resources: { memoryBytes: 64 * 2 ** 20 } }
    const { first, second } = await goOn(api, spec, ({ nativeId }) =>
      engine.delete(`/containers/${nativeId}`, { force: true }),
    )
    expect(second?.nativeId).not.toBe(first.nativeId)
  })
})
