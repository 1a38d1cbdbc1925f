import type { Inside, ProgressReport } from '../client/jobs/inside.ts'
import type { JobContext, Json } from './define-job.ts'
import type { Unsent } from './unsent.ts'

/** Sends only the newest progress and closure, and all artifacts in order. `settled` waits for all of them. */
export type Reports = Pick<JobContext, 'status' | 'progress' | 'metrics' | 'artifact' | 'saveClosure'> & {
  settled(): Promise<void>
}

export function createReports(open: () => Promise<Inside>, complain: (text: string) => void, unsent: Unsent): Reports {
  let opening: Promise<Inside> | undefined
  const inside = () => {
    opening ??= open()
    return opening
  }
  const unsettled = new Set<Promise<unknown>>()

  /** Logs a rejected report. An error that is not awaited must not end the process. */
  function track<T>(what: string, work: Promise<T>): Promise<T> {
    const watched = work
      .catch((error: Error) => complain(`${what}: ${error.message}`))
      .finally(() => unsettled.delete(watched))
    unsettled.add(watched)
    return work
  }

  const progress = sendNewest(
    async (report: ProgressReport) => (await inside()).reportProgress(report),
    (older, newer) => ({ ...older, ...newer, metrics: mergeMetrics(older.metrics ?? [], newer.metrics ?? []) }),
  )
  let newest: Json | undefined
  const closures = sendNewest(
    async (closure: Json) => {
      await (await inside()).saveClosure(closure)
      if (closure === newest) unsent.clear()
    },
    (_older, newer) => newer,
  )
  let published: Promise<unknown> = Promise.resolve()

  return {
    status: (message) => track('status', progress({ message })),
    progress: (fraction, message) =>
      track('progress', progress({ fraction, ...(message !== undefined && { message }) })),
    metrics(values, step) {
      const metrics = Object.entries(values).flatMap(([name, value]) => {
        if (Number.isFinite(value)) return [{ name, value, ...(step !== undefined && { step }) }]
        complain(`metrics: ${name} is ${value}, which cannot be stored`)
        return []
      })
      return metrics.length === 0 ? Promise.resolve() : track('metrics', progress({ metrics }))
    },
    artifact(artifact) {
      const sent = published.then(async () => (await inside()).publishArtifact(artifact))
      published = sent.catch(() => undefined)
      return track(`artifact ${artifact.name}`, sent)
    },
    saveClosure(closure) {
      const text = JSON.stringify(closure)
      // Copies the closure, because the handler may change the object before it is sent.
      newest = JSON.parse(text) as Json
      unsent.keep(text)
      return track('saveClosure', closures(newest))
    },
    async settled() {
      while (unsettled.size > 0) await Promise.all(unsettled)
    },
  }
}

type Metrics = NonNullable<ProgressReport['metrics']>

/** Maximum number of values that the server accepts in one report. */
const metricsMax = 1_000

/**
 * Replaces an older value by a newer one of the same name and step. If there are too many values, every second one of
 * each name is dropped, but not the newest.
 */
function mergeMetrics(older: Metrics, newer: Metrics): Metrics {
  const merged = [...new Map([...older, ...newer].map((each) => [`${each.name} ${each.step}`, each])).values()]
  if (merged.length <= metricsMax) return merged
  return [...Map.groupBy(merged, ({ name }) => name).values()].flatMap((each) =>
    each.filter((_, i) => (each.length - i) % 2 === 1),
  )
}

interface Next<Value> extends PromiseWithResolvers<void> {
  value: Value
}

/** Sends one value at a time; values that arrive during a request are merged. */
function sendNewest<Value>(send: (value: Value) => Promise<void>, merge: (older: Value, newer: Value) => Value) {
  let next: Next<Value> | null = null
  let isSending = false

  async function work() {
    isSending = true
    for (let current = next; current; current = next) {
      next = null
      await send(current.value).then(current.resolve, current.reject)
    }
    isSending = false
  }

  return (value: Value): Promise<void> => {
    if (next) next.value = merge(next.value, value)
    else next = { value, ...Promise.withResolvers<void>() }
    const { promise } = next
    if (!isSending) void work()
    return promise
  }
}
