import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Handle } from '../executor.ts'
import type { ClusterApi } from './cluster.ts'
import { manager, podLabels } from './names.ts'
import type { Metadata, Pod } from './objects.ts'
import { getContainerState } from './pod-state.ts'

/**
 * Yields runs whose pods change: lists the pods, then watches from the version of the list. After any error it lists
 * again.
 */

interface Watching {
  cluster: ClusterApi
  clock: Clock
  log: Log
  signal: AbortSignal
}

const pauseMs = 1_000
/** The API server ends a watch after this time; then the next watch continues. */
const watchSeconds = 240
/** A watch that lasts longer is assumed to be dead. */
const watchMsMax = 270_000
const ownPods = `${podLabels.managedBy}=${manager},${podLabels.handle}`

type Change =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: Pod }
  | { type: 'BOOKMARK'; object: { metadata: Metadata } }
  | { type: 'ERROR'; object: { message?: string } }

type Seen = Map<string, { handle: Handle; digest: string }>

export async function* watchPods({ cluster, clock, log, signal }: Watching): AsyncGenerator<Handle> {
  const seen: Seen = new Map()
  while (!signal.aborted)
    try {
      const { items, version } = await cluster.list<Pod>('pods', { labelSelector: ownPods })
      yield* newsOfList(seen, items)
      for (let from = version; !signal.aborted; await clock.sleep(pauseMs, signal))
        from = yield* changesSince(from, seen, { cluster, clock, signal })
    } catch (err) {
      if (!signal.aborted) log.debug({ err }, 'the watch of pods ended; listing them again')
      await clock.sleep(pauseMs, signal)
    }
}

async function* changesSince(
  version: string,
  seen: Seen,
  { cluster, clock, signal }: Omit<Watching, 'log'>,
): AsyncGenerator<Handle, string> {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  void clock.sleep(watchMsMax, either).then(() => over.abort())
  const query = { watch: true, allowWatchBookmarks: true, labelSelector: ownPods, timeoutSeconds: watchSeconds }
  let reached = version
  try {
    for await (const line of linesOf(await cluster.getStream('pods', either, { ...query, resourceVersion: version }))) {
      const change: Change = JSON.parse(line)
      if (change.type === 'ERROR') throw new Error(`The watch from version ${reached} failed: ${change.object.message}`)
      reached = change.object.metadata.resourceVersion
      if (change.type !== 'BOOKMARK') yield* newsOf(seen, change.object, change.type)
    }
  } finally {
    over.abort()
  }
  return reached
}

async function* linesOf(answer: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of answer) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/** Yields changed runs of a list, including pods that were deleted between two watches. */
function* newsOfList(seen: Seen, listed: readonly Pod[]): Generator<Handle> {
  const names = new Set(listed.map(({ metadata }) => metadata.name))
  for (const [name, { handle }] of [...seen]) {
    if (names.has(name)) continue
    seen.delete(name)
    yield handle
  }
  for (const pod of listed) yield* newsOf(seen, pod, 'MODIFIED')
}

function* newsOf(seen: Seen, pod: Pod, type: 'ADDED' | 'MODIFIED' | 'DELETED'): Generator<Handle> {
  const { name, labels } = pod.metadata
  const handle = labels?.[podLabels.handle]
  if (handle === undefined) return
  const digest = digestOf(pod)
  const isNews = type === 'DELETED' || seen.get(name)?.digest !== digest
  if (type === 'DELETED') seen.delete(name)
  else seen.set(name, { handle, digest })
  if (isNews) yield handle
}

/** The fields of a pod that determine the state of its run. */
const digestOf = (pod: Pod) =>
  JSON.stringify([
    pod.status.phase,
    pod.status.reason,
    pod.spec.nodeName,
    getContainerState(pod),
    pod.metadata.deletionTimestamp,
  ])
