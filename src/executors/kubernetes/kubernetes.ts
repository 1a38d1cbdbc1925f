import { createHash } from 'node:crypto'
import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type AccountRules, oneUser } from '../accounts/account.ts'
import { describedSoon, unavailable } from '../backend/description.ts'
import type { Executor, ExecutorDescription, Handle, LogChunk } from '../executor.ts'
import { capacityOf } from './capacity.ts'
import { type ClusterApi, ClusterAway, ClusterError, createClusterApi, versionPath } from './cluster.ts'
import { createInspector } from './inspect.ts'
import { logsOf, podPositionsOf, withRemoved } from './logs.ts'
import { isNamedAfter, isPodHandle, podLabels } from './names.ts'
import type { Node, Pod, Secret } from './objects.ts'
import { createPodStarter } from './start.ts'
import { createPodStopper, removeObjects } from './stop.ts'
import { watchPods } from './watch.ts'

/**
 * Runs as pods of a Kubernetes cluster. A pod outlives the server; all objects of a run have names that follow from its
 * id. start.ts makes them once, inspect.ts, part.ts and observation.ts interpret them, stop.ts ends them through the
 * supervisor in the pod (supervise.sh), logs.ts and output.ts read their output.
 *
 * Nothing is concluded while the API server does not answer: its runs keep their state, and every verb is tried again.
 */

export interface KubernetesOptions {
  /** undefined: KUBECONFIG, the service account of the server's own pod, or `~/.kube/config`. */
  kubeconfig?: string | undefined
  context?: string | undefined
  namespace?: string | undefined
  /** Of jobs that name none. */
  image: string
  /** Of X11 displays; undefined: jobs have none. */
  x11Image?: string | undefined
  imagePullSecrets?: readonly string[]
  /** Tells what this installation and pool made from what others made in the namespace. */
  installation: string
  /** Environment of the server; jobs have `inheritNames` of it if their image does not set them. */
  environment: Readonly<Record<string, string | undefined>>
  inheritNames?: readonly string[]
  /** Folders that jobs may mount from, by name; the same on the server and on every node. */
  dataRoots: Readonly<Record<string, string>>
  accounts?: AccountRules
  clock: Clock
  time: Time
  log: Log
}

const ownerLength = 16

export async function createKubernetesExecutor(options: KubernetesOptions): Promise<Executor> {
  const { clock, time, log, environment, inheritNames = [], accounts = oneUser } = options
  const cluster = createClusterApi(options, { clock, time })
  const closing = new AbortController()
  const either = (signal: AbortSignal) => AbortSignal.any([signal, closing.signal])
  const owner = createHash('sha256').update(options.installation).digest('hex').slice(0, ownerLength)
  const stopper = createPodStopper(cluster, time)
  const inspector = createInspector({ cluster, stopper, clock, time, log })
  const { start, find } = createPodStarter({
    cluster,
    owner,
    image: options.image,
    x11Image: options.x11Image,
    imagePullSecrets: options.imagePullSecrets ?? [],
    data: { roots: options.dataRoots, hasUsers: accounts.hasUsers },
    passed: Object.fromEntries(
      inheritNames.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
    ),
    clock,
    time,
    closing: closing.signal,
  })

  /** Of a run that has no pods. */
  async function hadOutput(handle: Handle): Promise<boolean> {
    const [seen] = await inspector.inspect([handle])
    if (!isPodHandle(handle) || seen === undefined) return false
    return seen.state === 'ended' ? seen.startedAt !== undefined : seen.state !== 'starting' && seen.state !== 'failed'
  }

  async function* logs(handle: Handle, from: unknown, given: AbortSignal): AsyncGenerator<LogChunk> {
    const signal = either(given)
    const positions = podPositionsOf(from)
    const pods = await inspector.podsOf(handle, signal)
    if (pods.length === 0 && from === null && (await hadOutput(handle))) {
      if (!signal.aborted) yield { gap: 'LOST', bytes: 0, next: positions }
      return
    }
    const stateOf = (replica: number) => inspector.outputState(handle, replica)
    const isOver = () => inspector.isOver(handle)
    yield* logsOf(withRemoved(pods, positions, handle), positions, { cluster, clock, log, signal, stateOf, isOver })
  }

  return {
    name: 'kubernetes',
    start,
    find,
    inspect: (handles) => inspector.inspect(handles),
    logs,
    stop: (handle, graceMs) => stopper.stop(handle, graceMs),
    watch: (signal) => watchPods({ cluster, clock, log, signal: either(signal) }),
    async forget(handle) {
      if (isPodHandle(handle)) await removeObjects(cluster, handle)
      inspector.forget(handle)
    },
    async list() {
      const secrets = await cluster.list<Secret>('secrets', { labelSelector: `${podLabels.owner}=${owner}` })
      // A label that another program removed or changed tells nothing of the run: it may go on.
      return secrets.items.flatMap(({ metadata: { name: handle, labels } }) => {
        const runId = labels?.[podLabels.run]
        return runId !== undefined && isNamedAfter(handle, runId) ? { runId, handle } : []
      })
    },
    async capacity() {
      const [nodes, pods] = await Promise.all([
        cluster.list<Node>('/api/v1/nodes'),
        cluster.list<Pod>('/api/v1/pods', { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' }),
      ])
      return capacityOf(nodes.items, pods.items, owner)
    },
    describe: async () => ({
      ...(await describedSoon(clock, askCluster(cluster), none(`${cluster.address()} is silent`))),
      displays: options.x11Image !== undefined,
    }),
    async close() {
      closing.abort()
      cluster.close()
    },
  }
}

const none = (why: string) => `No cluster answers: ${why}`

async function askCluster(cluster: ClusterApi): Promise<ExecutorDescription> {
  try {
    const { gitVersion } = await cluster.get<{ gitVersion: string }>(versionPath)
    return { version: gitVersion.replace(/^v/, ''), available: true, message: null }
  } catch (error) {
    if (!(error instanceof ClusterAway || error instanceof ClusterError)) throw error
    return unavailable(none(error.message))
  }
}
