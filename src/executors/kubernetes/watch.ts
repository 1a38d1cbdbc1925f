import { createInterface } from 'node:readline'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Handle } from '../executor.ts'
import type { ClusterApi } from './cluster.ts'
import { manager, podLabels } from './names.ts'
import type { Pod } from './objects.ts'
import { containerOf } from './observation.ts'

/**
 * Names the runs whose pods change. Begins with a list and goes on from its version; when the API server does not have
 * that version any more (410 Gone), with another list. A watch is only a hint: all runs are inspected every few seconds
 * anyway, so a watch that dies in silence loses nothing.
 */

interface Watching {
  cluster: ClusterApi
  clock: Clock
  log: Log
  signal: AbortSignal
}

const pauseMs = 1_000
/** The API server ends a watch after this; a new one goes on. */
const watchSeconds = 240
const ownPods = `${podLabels.managedBy}=${manager},${podLabels.handle}`

interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  object: Pod
}

export async function* watchPods({ cluster, clock, log, signal }: Watching): AsyncGenerator<Handle> {
  const digests = new Map<string, string>()
  while (!signal.aborted)
    try {
      const listed = await cluster.list<Pod>('pods', { labelSelector: ownPods })
      for (const object of listed.items) if (isNews(digests, { type: 'ADDED', object })) yield* handleOf(object, signal)
      for await (const change of changesSince(cluster, listed.version, signal))
        if (isNews(digests, change)) yield* handleOf(change.object, signal)
    } catch (err) {
      if (!signal.aborted) log.debug({ err }, 'the watch of pods ended; listing them again')
      await clock.sleep(pauseMs, signal)
    }
}

async function* changesSince(cluster: ClusterApi, listed: string, signal: AbortSignal): AsyncGenerator<Change> {
  for (let version = listed; !signal.aborted; ) {
    const query = { watch: true, allowWatchBookmarks: true, labelSelector: ownPods, timeoutSeconds: watchSeconds }
    const answer = await cluster.stream('pods', signal, { ...query, resourceVersion: version })
    for await (const line of createInterface({ input: answer, signal })) {
      const change: Change = JSON.parse(line)
      if (change.type === 'ERROR') throw new Error(`The version ${version} of the watch is too old`)
      version = change.object.metadata.resourceVersion
      if (change.type !== 'BOOKMARK') yield change
    }
  }
}

function isNews(digests: Map<string, string>, { type, object }: Change): boolean {
  const { name } = object.metadata
  const digest = digestOf(object)
  const before = digests.get(name)
  if (type === 'DELETED') digests.delete(name)
  else digests.set(name, digest)
  return type === 'DELETED' || before !== digest
}

function* handleOf({ metadata }: Pod, { aborted }: AbortSignal): Generator<Handle> {
  const handle = metadata.labels?.[podLabels.handle]
  if (handle && !aborted) yield handle
}

/** What of a pod decides the state of its run. */
const digestOf = (pod: Pod) =>
  JSON.stringify([
    pod.status.phase,
    pod.status.reason,
    pod.spec.nodeName,
    containerOf(pod),
    pod.metadata.deletionTimestamp,
  ])
