import { toShape } from '../../domain/shape.ts'
import { countCopies } from '../../domain/spec.ts'
import { findAccount, singleUserRules } from '../accounts/account.ts'
import { openMounts } from '../backend/data-mounts.ts'
import { type CompleteOptions, type ExecutorOptions, pickVariables } from '../backend/executor-options.ts'
import { refuseMountsInside } from '../backend/snapshot-folder.ts'
import { retryStart, type StartWait } from '../backend/start-retry.ts'
import { BackendRefused, BackendUnreachable, ignoreNotFound } from '../backend/unreachable.ts'
import { type Executor, type Handle, type RunSpec, StartFailed } from '../executor.ts'
import { displayVariables } from '../process/display.ts'
import { type ClusterApi, clusterUnreachable, isAlreadyThere, type Path } from './cluster.ts'
import type { AccessOptions } from './kubeconfig.ts'
import { annotations, makeHandle, makeLabels, makePodName, podLabels } from './names.ts'
import { makeNetworkObjects } from './network.ts'
import type { Metadata, Node, Secret } from './objects.ts'
import { needsNodeLabels } from './placement.ts'
import { closureKey, commandKey, makePod, podFolders, runDirectory } from './pod.ts'
import { readPods } from './pods.ts'
import { makeCommandScript } from './script.ts'
import { fetchKey, makeFetchConfiguration } from './snapshot.ts'
import { removeObjects } from './stop.ts'

export interface KubernetesOptions extends ExecutorOptions, AccessOptions {
  /** Default image. */
  image: string
  /** Image of X11 displays; undefined: jobs cannot have displays. */
  x11Image?: string | undefined
  /** Image with a shell and curl, for fetching snapshots; undefined: the image of the job. */
  snapshotImage?: string | undefined
  imagePullSecrets?: readonly string[]
  /** Distinguishes the objects of this pool from others in the same namespace. */
  installation: string
  /** Directories that exist both on the server and on every node, by name. */
  dataRoots: Readonly<Record<string, string>>
}

type PodStartOptions = KubernetesOptions &
  CompleteOptions & {
    cluster: ClusterApi
    /** The label on all objects of this installation and pool. */
    owner: string
    closing: AbortSignal
  }

const quotaPauseMs = 10_000

/**
 * Starts a run once, however many servers try: the API server accepts one object per name. The Secret of the run is
 * created first, then its network objects, then its pods. A pod cannot begin without the Secret, so removing the Secret
 * ends a start of another server. When all pods exist, a mark on the Secret records this, so that a later start does
 * not create drained pods again.
 *
 * The start waits while the API server is unreachable or the quota of the namespace is used up. After the first pod was
 * requested, it waits without a time limit, because the pod could still begin.
 */
export class PodStarter {
  readonly #options: PodStartOptions
  readonly #cluster: ClusterApi

  constructor(options: PodStartOptions) {
    this.#options = options
    this.#cluster = options.cluster
  }

  start: Executor['start'] = async (run, unwanted, tell) => {
    const { clock, closing } = this.#options
    refuseUnknownNative(run)
    const handle = makeHandle(run.runId)
    const requested = { secret: false, pods: run.inherited }
    const signal = AbortSignal.any(unwanted ? [closing, unwanted] : [closing])
    const attempt = () => this.#startWhole(run, requested)
    const judge = (error: unknown, isLate: boolean) => this.#judge(error, { run, requested, signal, unwanted, isLate })
    await retryStart({ clock, signal, tell, attempt, judge })
    return handle
  }

  async find(runId: string): Promise<Handle | null> {
    const handle = makeHandle(runId)
    const firstPod = `pods/${makePodName(handle, 0)}`
    if (await this.#has(firstPod)) return handle
    const secret = await this.#cluster.get<Secret>(`secrets/${handle}`).catch(ignoreNotFound)
    if (secret?.metadata.annotations?.[annotations.withdrawn]) return handle
    if (secret)
      await this.#cluster.delete(`secrets/${handle}`, { propagationPolicy: 'Background' }).catch(ignoreNotFound)
    return (await this.#has(firstPod)) ? handle : null
  }

  #judge(cause: unknown, { run, requested, signal, unwanted, isLate }: Failure): StartWait {
    if (isOverQuota(cause) && !this.#options.closing.aborted) return waitForQuota(run, cause, unwanted)
    if (!(cause instanceof BackendUnreachable)) throw explainFailure(cause)
    if (requested.pods && signal.aborted) throw cause
    if (!requested.pods && (signal.aborted || isLate))
      throw new StartFailed('NODE_TROUBLE', `${clusterUnreachable}: ${cause.message}`, { cause })
    return { info: clusterUnreachable }
  }

  /**
   * Creates all objects. Removes earlier objects after a refusal, unless the run was started: a quota also refuses
   * objects that already exist.
   */
  async #startWhole(run: RunSpec, requested: Requested): Promise<void> {
    try {
      await this.#startOnce(run, requested)
    } catch (error) {
      if (error instanceof BackendUnreachable) throw error
      if (await this.#isStarted(run).catch((cause) => rethrowUnsure(cause, requested))) return
      if (requested.secret) await removeObjects(this.#cluster, makeHandle(run.runId))
      throw error
    }
  }

  /**
   * true: an attempt whose response was lost, or another server, has started the run: all its pods exist, or its
   * commands have begun.
   */
  async #isStarted(run: RunSpec): Promise<boolean> {
    const handle = makeHandle(run.runId)
    const pods = (await readPods(this.#cluster, [handle])).get(handle) ?? []
    const hasBegun = pods.some(({ metadata }) => metadata.annotations?.[annotations.begin] !== undefined)
    return hasBegun || pods.length === countCopies(run.spec.resources)
  }

  async #startOnce(run: RunSpec, requested: Requested): Promise<void> {
    const { dataRoots: roots, accounts, owner, time } = this.#options
    if (run.openSnapshot) refuseUnfetchable(run.spec)
    // If the server has the account of the submitter, the nodes are assumed to have the same accounts and directories.
    const account = await findAccount(run.unixUser, singleUserRules).catch(() => null)
    await using open = await openMounts(run.spec.data, {
      roots,
      hasUsers: accounts.hasUsers,
      account,
      reserved: podFolders,
    })
    const { mounts } = open
    const isLabelled = needsNodeLabels(toShape(run.spec.resources))
    const nodes = isLabelled ? (await this.#cluster.list<Node>('/api/v1/nodes')).items : []
    const secret = await this.#make<Secret>('secrets', this.#makeSecret(run), run)
    requested.secret = true
    const noted = secret.metadata.annotations ?? {}
    if (noted[annotations.withdrawn] ?? noted[annotations.made]) return
    const parts = { ...this.#options, run, secret, mounts, nodes, nowMs: time.nowMs() }
    const pods = Array.from({ length: countCopies(run.spec.resources) }, (_, replica) => makePod(parts, replica))
    for (const { path, body } of makeNetworkObjects(run, owner, secret)) await this.#make(path, body, run)
    requested.pods = true
    for (const pod of pods) await this.#make('pods', pod as Named, run)
    const made = { metadata: { annotations: { [annotations.made]: 'yes' } } }
    await this.#cluster.patch(`secrets/${secret.metadata.name}`, made)
  }

  async #make<T extends { metadata: Metadata }>(kind: Path, body: Named, run: RunSpec): Promise<T> {
    try {
      return await this.#cluster.create<T>(kind, body)
    } catch (error) {
      if (!isAlreadyThere(error)) throw error
    }
    const { name } = body.metadata
    const found = await this.#cluster.get<T>(`${kind}/${name}`)
    if (found.metadata.labels?.[podLabels.run] === run.runId) return found
    const other = found.metadata.labels?.[podLabels.run] ?? 'something that is not of Berth'
    throw new StartFailed('START_FAILED', `${kind}/${name} exists already, and belongs to ${other}`)
  }

  #makeSecret(run: RunSpec) {
    const passed = pickVariables(this.#options)
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: makeHandle(run.runId), labels: makeLabels(run, this.#options.owner) },
      type: 'berth/run',
      immutable: true,
      data: {
        [commandKey]: base64(makeCommandScript(withOwnVariables(run), passed)),
        ...(run.openSnapshot && { [fetchKey]: base64(makeFetchConfiguration(run)) }),
        ...(run.closure !== null && { [closureKey]: base64(run.closure) }),
      },
    }
  }

  async #has(path: Path): Promise<boolean> {
    return (await this.#cluster.get(path).catch(ignoreNotFound)) !== null
  }
}

/**
 * Waits for a quota. No part of the run may exist then: two runs whose pods each got a part of the quota would block
 * each other.
 */
function waitForQuota({ spec }: RunSpec, cause: BackendRefused, unwanted: AbortSignal | undefined): StartWait {
  if (countCopies(spec.resources) > 1) throw new StartFailed('NOT_TOGETHER', cause.message, { cause })
  if (unwanted?.aborted) throw explainFailure(cause)
  const info = `Waiting for a quota of its namespace: ${cause.message}`
  return { info, pauseMs: quotaPauseMs, isReachable: true }
}

/** Rethrows a rejection as uncertain if pods were requested before, because they may exist. */
function rethrowUnsure(cause: unknown, { pods }: Requested): never {
  if (!pods || !(cause instanceof BackendRefused)) throw cause
  throw new BackendUnreachable(`Cannot tell whether the pods were made: ${cause.message}`, { cause })
}

interface Failure {
  run: RunSpec
  requested: Requested
  signal: AbortSignal
  unwanted: AbortSignal | undefined
  isLate: boolean
}

const isOverQuota = (error: unknown): error is BackendRefused =>
  error instanceof BackendRefused && error.status === 403 && error.message.includes('exceeded quota: ')

interface Requested {
  secret: boolean
  pods: boolean
}

interface Named {
  metadata: { name: string }
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

const withOwnVariables = (run: RunSpec): RunSpec => ({
  ...run,
  injected: {
    ...run.injected,
    ...(run.closure !== null && { BERTH_CLOSURE: `${runDirectory}/${closureKey}` }),
    ...(run.spec.x11 && displayVariables),
  },
})

function refuseUnknownNative({ queueNative }: RunSpec): void {
  const unknown = Object.keys(queueNative).find((name) => name !== 'priorityClass')
  if (unknown !== undefined)
    throw new StartFailed(
      'BAD_SPEC',
      `native.${unknown} of the queue: the executor kubernetes supports priorityClass only`,
    )
}

function refuseUnfetchable({ data, networkIsolation }: RunSpec['spec']): void {
  refuseMountsInside(data)
  if (networkIsolation === null || networkIsolation === 'IN') return
  const why = 'the pod must reach the server to fetch its snapshot; use IN'
  throw new StartFailed('BAD_SPEC', `networkIsolation ${networkIsolation}: ${why}`)
}

function explainFailure(error: unknown): unknown {
  if (!(error instanceof BackendRefused)) return error
  const isRequest = [400, 413, 422].includes(error.status)
  const reason = isRequest ? 'BAD_SPEC' : 'START_FAILED'
  return new StartFailed(reason, `The cluster refused: ${error.message}`, { cause: error })
}
