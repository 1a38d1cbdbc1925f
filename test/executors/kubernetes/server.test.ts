import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openServer } from '../../support/api.ts'
import { makeDirectory } from '../../support/directory.ts'
import { busyboxPost } from '../../support/inside.ts'
import { startProxy } from '../../support/proxy.ts'
import { until } from '../../support/until.ts'
import {
  backdatePlacement,
  frozen,
  image,
  keepSecondPodsAway,
  kubeconfig,
  kubectl,
  onlyNode,
  reportGpus,
  tagImage,
} from './real-cluster.ts'

const opened = kubeconfig === undefined ? null : await open()

/** A server with the cluster, and a proxy by which its pods reach it at the address of their node. */
async function open() {
  const { metadata } = await onlyNode()
  const addresses = await kubectl('get', 'node', metadata.name, '-o', 'jsonpath={.status.addresses}')
  const { address } = JSON.parse(addresses).find(({ type }: { type: string }) => type === 'InternalIP')
  const proxy = await startProxy('http://127.0.0.1:1', address)
  const directory = makeDirectory()
  afterAll(async () => {
    await kubectl('delete', 'secrets', '-l', 'app.kubernetes.io/managed-by=berth', '--wait=false')
    await proxy.close()
  })
  const { server, api } = await openServer(`
server: { publicUrl: '${proxy.url}' }
kubernetes: { kubeconfig: '${kubeconfig}', image: '${image}' }
data: { roots: { data: '${directory}' } }
pools: [{ name: cluster, executors: [kubernetes], relaxReplicas: true, scheduling: { nodeLostAfterSeconds: 20 } }]
`)
  proxy.moveTo(server.url)
  return { api, directory }
}

/** Jobs of a real server that lose their pods or nodes. */
describe.skipIf(opened === null)('a server with a cluster', { timeout: 300_000 }, () => {
  if (opened === null) return
  const { api, directory } = opened
  beforeAll(async () => void (await untilNode('state', 'READY')))

  interface Seen {
    state: string
    stateReason: string | null
    stateInfo: string | null
    nativeId: string | null
    attempt: number
    closure: { step: number } | null
    runs: { nodes: { number: number; state: string; nativeId: string | null }[] }
    logs: { text: string }
  }

  async function look(id: string): Promise<Seen> {
    const query = `query ($id: ID!) { job(id: $id) { state stateReason stateInfo nativeId attempt closure
      runs(first: 10) { nodes { number state nativeId } } logs(first: 5000) { text } } }`
    return (await api.ask<{ job: Seen }>(query, { id })).job
  }
  const untilSeen = (id: string, is: (job: Seen) => boolean, what: string) =>
    until(
      async () => {
        const job = await look(id)
        return is(job) && job
      },
      { what, timeoutMs: 200_000 },
    )
  interface SeenNode {
    state: string
    gpuJobsOnly: boolean
  }
  const untilNode = <Name extends keyof SeenNode>(name: Name, value: SeenNode[Name]) =>
    until(
      async () => {
        const { pools } = await api.ask<{ pools: { nodes: { nodes: { nodes: SeenNode[] } }[] } }>(
          '{ pools { nodes { nodes { nodes { state gpuJobsOnly } } } } }',
        )
        return pools.nodes[0]?.nodes.nodes[0]?.[name] === value
      },
      { what: `${name} of the node is ${value}`, timeoutMs: 200_000 },
    )
  const isFinal = ({ state }: Seen) => ['SUCCEEDED', 'FAILED', 'INTERRUPTED', 'CANCELLED'].includes(state)
  const small = { cpu: 0.05, memoryBytes: 64 * 2 ** 20 }
  const sh = (text: string, more: object = {}) => ({
    command: ['/bin/sh', '-c', text],
    data: ['data:/d'],
    resources: small,
    ...more,
  })
  const marks = async (name: string) => (await readFile(join(directory, name), 'utf8')).trim().split('\n')

  /** A job that saves a closure each second, and ends some steps after it was continued. */
  const counting = `${busyboxPost}
    save() {
      post '{"query": "mutation { saveClosure(input: { closure: { step: '$1' } }) { __typename } }"}'
    }
    step=0 end=1000
    if [ "$BERTH_CLOSURE" ]; then
      step=$(sed 's/[^0-9]//g' "$BERTH_CLOSURE") end=$((step + 3))
      echo "run $BERTH_RUN continues from $step"
    fi
    trap 'exit 1' TERM
    while [ $step -lt $end ]; do
      step=$((step + 1))
      save $step | grep -q SaveClosureSuccess && echo "saved $step"
      sleep 1
    done`

  it.each<[string, (pod: string) => string[]]>([
    ['deleted', (pod) => ['delete', 'pod', pod, '--wait=false']],
    ['deleted by force', (pod) => ['delete', 'pod', pod, '--grace-period=0', '--force']],
    ['removed with the Secret that it belongs to', (pod) => ['delete', 'secret', pod.replace(/-0$/, '')]],
  ])('a resumable job continues from its closure in another run if its pod is %s', async (_, words) => {
    const id = await api.submit(sh(counting, { resumable: true }))
    const { nativeId, closure } = await untilSeen(id, (job) => (job.closure?.step ?? 0) >= 3, 'it saved some steps')
    await kubectl(...words(nativeId ?? ''))
    const job = await untilSeen(id, isFinal, 'it is over')
    expect(job).toMatchObject({ state: 'SUCCEEDED', attempt: 2 })
    expect(job.runs.nodes.map(({ state }) => state).toSorted()).toEqual(['INTERRUPTED', 'SUCCEEDED'])
    const [, from = ''] = job.logs.text.match(/run 2 continues from (\d+)/) ?? []
    expect(Number(from)).toBeGreaterThanOrEqual(closure?.step ?? 0)
    expect(job.closure).toEqual({ step: Number(from) + 3 })
  })

  it('a job that is not restartable and has no closure is INTERRUPTED if its pod is deleted', async () => {
    const id = await api.submit(sh('echo begun; sleep 600', { resumable: true }))
    const { nativeId } = await untilSeen(id, ({ logs }) => logs.text !== '', 'it began')
    await kubectl('delete', 'pod', nativeId ?? '', '--wait=false')
    expect(await untilSeen(id, isFinal, 'it is over')).toMatchObject({
      state: 'INTERRUPTED',
      stateReason: 'NODE_LOST',
      stateInfo: expect.stringMatching(/^The pod (was deleted|does not exist)$/),
      attempt: 1,
    })
  })

  it('a job that requests too many GPUs waits with the reason, and runs when it requests fewer', async () => {
    const id = await api.submit(sh('echo ran', { resources: { ...small, gpu: 2, gpuModel: ['v100'] } }))
    const waiting = async () => {
      const query = 'query ($id: ID!) { job(id: $id) { state scheduling { reasons { code message } } } }'
      return (await api.ask<{ job: object }>(query, { id })).job
    }
    expect(JSON.stringify(await waiting())).toContain('UNSATISFIABLE')
    await reportGpus(2, 'Tesla-V100')
    try {
      expect(await untilSeen(id, isFinal, 'it ran')).toMatchObject({ state: 'SUCCEEDED' })
    } finally {
      await reportGpus(0, null)
    }
  })

  it('a job without GPUs waits while all nodes accept only jobs with GPUs', async () => {
    const { metadata } = await onlyNode()
    await kubectl('taint', 'node', metadata.name, 'nvidia.com/gpu=present:NoSchedule')
    await untilNode('gpuJobsOnly', true)
    const id = await api.submit(sh('echo ran'))
    await setTimeout(3_000)
    expect(await look(id)).toMatchObject({ state: 'QUEUED', attempt: 1 })
    await kubectl('taint', 'node', metadata.name, 'nvidia.com/gpu-')
    expect(await untilSeen(id, isFinal, 'it ran')).toMatchObject({ state: 'SUCCEEDED', attempt: 1 })
  })

  const gang = { resources: { ...small, replicas: 2 } }
  const phases = (id: string) =>
    kubectl('get', 'pods', '-l', `berth/job=${id}`, '-o', 'jsonpath={.items[*].status.phase}')
  const pods = async (id: string) =>
    (await kubectl('get', 'pods', '-l', `berth/job=${id}`, '-o', 'name')).trim().split('\n')
  /** The next run of the job may already have pods. */
  const untilRemoved = (id: string, names: readonly string[]) =>
    until(async () => !(await pods(id)).some((name) => names.includes(name)), {
      what: 'its pods are removed',
    })
  /** Waits until one of two pods runs, and returns the pods of the run. */
  const untilPlacedInPart = async (id: string) => {
    await untilSeen(id, ({ stateInfo }) => stateInfo?.includes('anti-affinity') ?? false, 'it says what is missing')
    await until(async () => (await phases(id)).split(' ').toSorted().join() === 'Pending,Running', {
      what: 'one pod is up',
    })
    return pods(id)
  }

  it('a gang returns to the queue if some of its pods get no node, and runs when all pods get nodes', async () => {
    const away = await keepSecondPodsAway()
    const id = await api.submit(sh('echo "$BERTH_RUN.$BERTH_REPLICA" >>/d/gang', gang))
    const first = await untilPlacedInPart(id)
    await backdatePlacement(`berth/job=${id}`, 660_000)
    const back = await untilSeen(id, ({ state }) => state === 'QUEUED', 'it is back in the queue')
    expect(back).toMatchObject({
      stateReason: 'NOT_TOGETHER',
      stateInfo: expect.stringMatching(/The cluster placed 1 of 2 pods, and no other one .*anti-affinity/),
    })
    await untilRemoved(id, first)
    await away[Symbol.asyncDispose]()
    const job = await until(async () => isFinal(await look(id)) && look(id), { what: 'it ran', timeoutMs: 320_000 })
    expect(job).toMatchObject({ state: 'SUCCEEDED', attempt: 2 })
    expect((await marks('gang')).toSorted()).toEqual(['2.0', '2.1'])
  }, 600_000)

  it('the time to pull an image does not count as run time', async () => {
    // The cluster may have images of earlier runs of this test.
    const late = `localhost/late:${process.pid}`
    const id = await api.submit(sh('sleep 2', { image: late, maxRunTimeSeconds: 4 }))
    await untilSeen(id, ({ stateInfo }) => stateInfo?.includes('ImagePull') ?? false, 'it cannot be pulled')
    await setTimeout(6_000)
    expect(await look(id)).toMatchObject({ state: 'STARTING' })
    await tagImage(late)
    expect(await untilSeen(id, isFinal, 'it is over')).toMatchObject({ state: 'SUCCEEDED', attempt: 1 })
  })

  it('a job survives an API server that is frozen for longer than the timeout of a response', async () => {
    const text = 'echo x >>/d/frozen; i=0; while [ $i -lt 50 ]; do i=$((i + 1)); echo line $i; sleep 1; done'
    const id = await api.submit(sh(text))
    await untilSeen(id, ({ logs }) => logs.text.includes('line 3'), 'it prints')
    await frozen('kube-apiserver', () => setTimeout(35_000))
    const job = await untilSeen(id, isFinal, 'it is over')
    expect(job).toMatchObject({ state: 'SUCCEEDED', attempt: 1 })
    expect(job.logs.text).toBe(Array.from({ length: 50 }, (_, index) => `line ${index + 1}\n`).join(''))
    expect(await marks('frozen')).toEqual(['x'])
  })

  it('a job whose node becomes unreachable is lost, and runs again only after the old run has ended', async () => {
    const text = (name: string) => `trap 'sleep 2; echo "$BERTH_RUN.$BERTH_REPLICA ends" >>/d/${name}; exit 1' TERM
      echo "$BERTH_RUN.$BERTH_REPLICA begins" >>/d/${name}; [ $BERTH_RUN = 1 ] || exit 0; while :; do sleep 0.1; done`
    const restarts = await api.submit(sh(text('lost'), { restartable: true }))
    const together = await api.submit(sh(text('together'), { restartable: true, ...gang }))
    const ends = await api.submit(sh('sleep 600'))
    const isRunning = ({ state }: Seen) => state === 'RUNNING'
    for (const id of [restarts, together, ends]) await untilSeen(id, isRunning, 'it runs')
    await frozen('kubelet', async () => {
      await untilNode('state', 'LOST')
      expect(await untilSeen(ends, isFinal, 'it is over')).toMatchObject({
        state: 'INTERRUPTED',
        stateReason: 'NODE_LOST',
      })
      for (const id of [restarts, together])
        expect(await untilSeen(id, ({ state }) => state === 'QUEUED', 'it waits')).toMatchObject({
          stateReason: 'NODE_LOST',
          stateInfo: 'The node of the run has been unreachable for 20 s',
        })
      expect(await marks('lost')).toEqual(['1.0 begins'])
    })
    for (const id of [restarts, together])
      expect(await untilSeen(id, isFinal, 'it is over')).toMatchObject({ state: 'SUCCEEDED', attempt: 2 })
    expect(await marks('lost')).toEqual(['1.0 begins', '1.0 ends', '2.0 begins'])
    const done = await marks('together')
    expect(done.slice(0, 4).toSorted()).toEqual(['1.0 begins', '1.0 ends', '1.1 begins', '1.1 ends'])
    expect(done.slice(4).toSorted()).toEqual(['2.0 begins', '2.1 begins'])
    expect((await look(ends)).runs.nodes).toHaveLength(1)
    await untilNode('state', 'READY')
  })

  it('a gang whose node becomes unreachable before all pods are placed does not begin', async () => {
    await using _ = await keepSecondPodsAway()
    const id = await api.submit(sh('echo "$BERTH_RUN" >>/d/waiting', gang))
    const first = await untilPlacedInPart(id)
    await frozen('kubelet', async () => {
      await untilNode('state', 'LOST')
      expect(await untilSeen(id, ({ state }) => state === 'QUEUED', 'it waits')).toMatchObject({
        stateReason: 'NODE_LOST',
      })
    })
    await untilRemoved(id, first)
    await untilNode('state', 'READY')
    await expect(marks('waiting')).rejects.toThrow(/ENOENT/)
  })
})
