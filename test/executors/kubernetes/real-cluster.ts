import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/**
 * The cluster whose kubeconfig the environment names: its nodes see the directories of this machine and have the image
 * `localhost/bb:1` (busybox). `npm run test:executors` starts one. undefined: the tests of a cluster are skipped.
 */
export const kubeconfig = process.env['BERTH_TEST_KUBERNETES']
export const image = 'localhost/bb:1'
if (kubeconfig === undefined)
  process.stderr.write('SKIPPED: the executor kubernetes; "npm run test:executors" runs it with a real cluster\n')

const run = promisify(execFile)

export async function kubectl(...words: string[]): Promise<string> {
  return (await run('kubectl', ['--kubeconfig', kubeconfig ?? '', ...words])).stdout
}

export const readField = (kind: string, name: string, path: string): Promise<string> =>
  kubectl('get', kind, name, '-o', `jsonpath={${path}}`)

interface ClusterNode {
  metadata: { name: string; resourceVersion?: string }
  status: { capacity: Record<string, string>; allocatable: Record<string, string> }
}

export async function onlyNode(): Promise<ClusterNode> {
  const { items } = JSON.parse(await kubectl('get', 'nodes', '-o', 'json'))
  if (items.length !== 1) throw new Error(`The tests know a cluster of one node, and this one has ${items.length}`)
  return items[0]
}

/** Reports GPUs of this model on the node, like a device plugin. */
export async function reportGpus(gpus: number, model: string | null): Promise<void> {
  const node = await onlyNode()
  delete node.metadata.resourceVersion
  for (const amounts of [node.status.capacity, node.status.allocatable]) amounts['nvidia.com/gpu'] = String(gpus)
  const { name } = node.metadata
  await replace(`/api/v1/nodes/${name}/status`, node)
  const labels = { product: model, memory: model === null ? null : '32768' }
  const words = Object.entries(labels).map(
    ([key, value]) => `nvidia.com/gpu.${key}${value === null ? '-' : `=${value}`}`,
  )
  await kubectl('label', 'node', name, '--overwrite', ...words)
}

async function replace(path: string, object: object): Promise<void> {
  const child = run('kubectl', ['--kubeconfig', kubeconfig ?? '', 'replace', '--raw', path, '-f', '-'])
  child.child.stdin?.end(JSON.stringify(object))
  await child
}

/** Changes when the pods with this label got their nodes, to `ms` earlier. */
export async function backdatePlacement(label: string, ms: number): Promise<void> {
  const { items } = JSON.parse(await kubectl('get', 'pods', '-l', label, '-o', 'json'))
  for (const pod of items) {
    const { name, namespace } = pod.metadata
    delete pod.metadata.resourceVersion
    for (const condition of pod.status.conditions) {
      if (condition.type !== 'PodScheduled' || condition.status !== 'True') continue
      const at = new Date(Date.parse(condition.lastTransitionTime) - ms)
      condition.lastTransitionTime = at.toISOString().replace(/\.\d+/, '')
    }
    if (pod.spec.nodeName) await replace(`/api/v1/namespaces/${namespace}/pods/${name}/status`, pod)
  }
}

/**
 * Creates a pod that keeps second pods of runs off the node. The node does not report this, so the server still plans
 * with it.
 */
export async function keepSecondPodsAway(): Promise<AsyncDisposable> {
  const labelSelector = { matchLabels: { 'berth/replica': '1' } }
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector }
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
  const overrides = JSON.stringify({ apiVersion: 'v1', spec: { affinity, terminationGracePeriodSeconds: 0 } })
  await kubectl('run', 'stranger', '--image', image, '--overrides', overrides, '--command', '--', 'sleep', '3600')
  await kubectl('wait', '--for=condition=Ready', 'pod/stranger', '--timeout=60s')
  return {
    [Symbol.asyncDispose]: async () => void (await kubectl('delete', 'pod', 'stranger', '--grace-period=0', '--force')),
  }
}

/** Gives the image of the tests another name on the node. */
export async function tagImage(name: string): Promise<void> {
  const socket = join(dirname(kubeconfig ?? ''), 'containerd.sock')
  await run('ctr', ['-a', socket, '-n', 'k8s.io', 'images', 'tag', '--force', image, name])
}

/** Freezes a process of the cluster (the script that started it stored its pid) during the work. */
export async function frozen(name: 'kubelet' | 'kube-apiserver', work: () => Promise<void>): Promise<void> {
  const pid = Number.parseInt(await readFile(join(dirname(kubeconfig ?? ''), `${name}.pid`), 'utf8'), 10)
  process.kill(pid, 'SIGSTOP')
  try {
    await work()
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}
