import { shapeOf } from '../../domain/shape.ts'
import { copiesOf } from '../../domain/spec.ts'
import type { Clock, Time } from '../../platform/clock.ts'
import { findAccount, oneUser } from '../accounts/account.ts'
import { type DataRoots, openMounts } from '../backend/data-mounts.ts'
import { type Executor, type Handle, type RunSpec, StartFailed } from '../executor.ts'
import { displayVariables } from '../process/display.ts'
import {
  type ClusterApi,
  ClusterAway,
  ClusterError,
  clusterAway,
  isAbsent,
  isAlreadyThere,
  type Path,
} from './cluster.ts'
import { annotations, handleOf, isPodHandle, labelsOf, podLabels, podNameOf } from './names.ts'
import { networkObjectsOf } from './network.ts'
import type { Metadata, Node, Secret } from './objects.ts'
import { asksForLabels } from './placement.ts'
import { closureKey, commandKey, type PodOptions, podFolders, podOf, runDirectory } from './pod.ts'
import { readPods } from './pods.ts'
import { commandScript } from './script.ts'
import { removeObjects, unlessGone } from './stop.ts'

/**
 * Starts a run once, for any number of servers: all names follow from the id of the run, and the API server gives a name
 * to one object only. The Secret of the run is made first, then what it needs in the network, its pods last. A pod
 * cannot begin without the Secret, so removing the Secret ends a start that is still going on elsewhere.
 *
 * When all pods are made, the Secret says so: a later start of the same run, by another leader, makes none again that was
 * drained or deleted meanwhile.
 *
 * An API server that is away is waited for, and a quota of the namespace that is used up, as a node that is full would
 * be. Once a pod may have been asked for, here or by an earlier leader, that wait has no limit: a start that is given up
 * could still begin. The commands of several pods begin only when all of them run (inspect.ts).
 */
export interface PodStartOptions extends PodOptions {
  cluster: ClusterApi
  data: DataRoots
  /** Variables of the server that jobs may have if their image does not set them. */
  passed: Readonly<Record<string, string>>
  clock: Clock
  time: Time
  closing: AbortSignal
}

export interface PodStarter {
  start: Executor['start']
  find(runId: string): Promise<Handle | null>
}

const awayMsMax = 60_000
const awayPauseMs = 1_000
const quotaPauseMs = 10_000

export function createPodStarter(options: PodStartOptions): PodStarter {
  const { cluster, clock, closing } = options

  const start: Executor['start'] = async (run, unwanted, tell) => {
    refuseWhatIsNotHonoured(run)
    const handle = handleOf(run.runId)
    const asked = { secret: false, pods: run.inherited }
    for (let sinceMs = clock.monotonicMs(); ; )
      try {
        await startWhole(run, asked)
        return handle
      } catch (error) {
        if (isOverQuota(error) && !closing.aborted) {
          await waitForQuota(run, error, { unwanted, tell })
          sinceMs = clock.monotonicMs()
        } else if (error instanceof ClusterAway) {
          demandPatience(error, asked, { unwanted, isLong: clock.monotonicMs() - sinceMs > awayMsMax })
          tell?.(clusterAway)
          await clock.sleep(awayPauseMs, either(unwanted))
        } else throw failureOf(error)
      }
  }

  const either = (unwanted: AbortSignal | undefined) => AbortSignal.any(unwanted ? [closing, unwanted] : [closing])

  /** A pod that was asked for may begin any time, so its run is not given up, however long the cluster is away. */
  function demandPatience(cause: ClusterAway, { pods }: Asked, { unwanted, isLong }: Patience): void {
    const isUnwanted = closing.aborted || unwanted?.aborted === true
    if (pods && isUnwanted) throw cause
    if (!pods && (isUnwanted || isLong))
      throw new StartFailed('NODE_TROUBLE', `${clusterAway}: ${cause.message}`, { cause })
  }

  /** Nothing of the run is there. The pods of a run that got a part of the quota must not keep it from each other. */
  async function waitForQuota({ spec }: RunSpec, cause: ClusterError, { unwanted, tell }: Waiting): Promise<void> {
    if (copiesOf(spec.resources) > 1) throw new StartFailed('NOT_TOGETHER', cause.message, { cause })
    if (unwanted?.aborted) throw failureOf(cause)
    tell?.(`Waiting for a quota of its namespace: ${cause.message}`)
    await clock.sleep(quotaPauseMs, either(unwanted))
  }

  /**
   * If the cluster refuses an object of the run, those that were made before are removed. A run that was started all the
   * same stays: a quota, for example, refuses also what is there already.
   */
  async function startWhole(run: RunSpec, asked: Asked): Promise<void> {
    try {
      await startOnce(run, asked)
    } catch (error) {
      if (error instanceof ClusterAway) throw error
      if (await isStarted(run).catch((cause) => unsure(cause, asked))) return
      if (asked.secret) await removeObjects(cluster, handleOf(run.runId))
      throw error
    }
  }

  /** By an attempt whose answer was lost, or by another server: all its pods are there, or its commands have begun. */
  async function isStarted(run: RunSpec): Promise<boolean> {
    const handle = handleOf(run.runId)
    const pods = (await readPods(cluster, [handle])).get(handle) ?? []
    const hasBegun = pods.some(({ metadata }) => metadata.annotations?.[annotations.begin] !== undefined)
    return hasBegun || pods.length === copiesOf(run.spec.resources)
  }

  async function startOnce(run: RunSpec, asked: Asked): Promise<void> {
    // On the nodes the folders and accounts are the same as here, where the server has the account of the submitter.
    const account = await findAccount(run.unixUser, oneUser).catch(() => null)
    await using data = await openMounts(run.spec.data, { ...options.data, account, reserved: podFolders })
    const { mounts } = data
    const nodes = asksForLabels(shapeOf(run.spec.resources)) ? (await cluster.list<Node>('/api/v1/nodes')).items : []
    const secret = await make<Secret>('secrets', secretOf(run), run)
    asked.secret = true
    const told = secret.metadata.annotations ?? {}
    if (told[annotations.withdrawn] ?? told[annotations.made]) return
    const parts = { ...options, run, secret, mounts, nodes, nowMs: options.time.nowMs() }
    const pods = replicasOf(run).map((replica) => podOf(parts, replica))
    for (const { path, body } of networkObjectsOf(run, options.owner, secret)) await make(path, body, run)
    asked.pods = true
    for (const pod of pods) await make('pods', pod as Named, run)
    await cluster.patch(`secrets/${secret.metadata.name}`, { metadata: { annotations: { [annotations.made]: 'yes' } } })
  }

  /** Makes the object, or finds that it was made for this run before. */
  async function make<T extends { metadata: Metadata }>(kind: Path, body: Named, run: RunSpec): Promise<T> {
    try {
      return await cluster.create<T>(kind, body)
    } catch (error) {
      if (!isAlreadyThere(error)) throw error
    }
    const { name } = body.metadata
    const found = await cluster.get<T>(`${kind}/${name}`)
    if (found.metadata.labels?.[podLabels.run] === run.runId) return found
    const other = found.metadata.labels?.[podLabels.run] ?? 'something that is not of Berth'
    throw new StartFailed('START_FAILED', `${kind}/${name} is there already, and belongs to ${other}`)
  }

  const secretOf = (run: RunSpec) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: handleOf(run.runId), labels: labelsOf(run, options.owner) },
    type: 'berth/run',
    immutable: true,
    data: {
      [commandKey]: base64(commandScript(withOwnVariables(run), options)),
      ...(run.closure !== null && { [closureKey]: base64(run.closure) }),
    },
  })

  async function has(path: Path): Promise<boolean> {
    try {
      await cluster.get(path)
      return true
    } catch (error) {
      if (isAbsent(error)) return false
      throw error
    }
  }

  return {
    start,
    async find(runId) {
      const handle = handleOf(runId)
      if (!isPodHandle(handle)) return null
      const firstPod = `pods/${podNameOf(handle, 0)}`
      if (await has(firstPod)) return handle
      const secret = await cluster.get<Secret>(`secrets/${handle}`).catch(unlessGone)
      if (secret?.metadata.annotations?.[annotations.withdrawn]) return handle
      if (secret) await cluster.delete(`secrets/${handle}`, { propagationPolicy: 'Background' }).catch(unlessGone)
      return (await has(firstPod)) ? handle : null
    },
  }
}

/** The API server was asked for a pod, and what it refuses now says nothing of that. */
function unsure(cause: unknown, { pods }: Asked): never {
  if (!pods || !(cause instanceof ClusterError)) throw cause
  throw new ClusterAway(`It is not known whether its pods were made: ${cause.message}`, { cause })
}

type Unwanted = Parameters<Executor['start']>[1]

interface Waiting {
  unwanted: Unwanted
  tell: Parameters<Executor['start']>[2]
}

interface Patience {
  unwanted: Unwanted
  /** The cluster is away for longer than a start waits. */
  isLong: boolean
}

/** The API server says it in this text alone. */
const isOverQuota = (error: unknown): error is ClusterError =>
  error instanceof ClusterError && error.status === 403 && error.message.includes('exceeded quota: ')

/** What the API server may have by now. */
interface Asked {
  secret: boolean
  pods: boolean
}

interface Named {
  metadata: { name: string }
}

const replicasOf = ({ spec }: RunSpec) => Array.from({ length: copiesOf(spec.resources) }, (_, replica) => replica)

const base64 = (text: string) => Buffer.from(text).toString('base64')

const withOwnVariables = (run: RunSpec): RunSpec => ({
  ...run,
  injected: {
    ...run.injected,
    ...(run.closure !== null && { BERTH_CLOSURE: `${runDirectory}/${closureKey}` }),
    ...(run.spec.x11 && displayVariables),
  },
})

function refuseWhatIsNotHonoured({ queueNative }: RunSpec): void {
  const unknown = Object.keys(queueNative).find((name) => name !== 'priorityClass')
  if (unknown !== undefined)
    throw new StartFailed(
      'BAD_SPEC',
      `native.${unknown} of the queue: the executor kubernetes knows priorityClass only`,
    )
}

/** A request that the API server refuses is the job's fault; one that it cannot serve is not. */
function failureOf(error: unknown): unknown {
  if (!(error instanceof ClusterError)) return error
  const isRequest = [400, 413, 422].includes(error.status)
  const reason = isRequest ? 'BAD_SPEC' : 'START_FAILED'
  return new StartFailed(reason, `The cluster refused: ${error.message}`, { cause: error })
}
