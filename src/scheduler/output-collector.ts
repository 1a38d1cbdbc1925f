import type { Domain } from '../domain/domain.ts'
import { type OutputOrder, readOutputOrder } from '../domain/outputs/attach.ts'
import { collectOutputs, giveUpOutputs } from '../domain/outputs/collect.ts'
import type { OutputLimits } from '../domain/outputs/selection.ts'
import type { Executor, Handle } from '../executors/executor.ts'
import { retryUntilSuccess } from '../platform/retry.ts'
import { Unavailable } from '../platform/tx.ts'

/**
 * Collects the output files of runs that are over, a few runs at a time. The resources of the run are free meanwhile.
 * Files that a server does not collect are left to the next leader (leftovers.ts), because the executor keeps the run
 * until then. Files that are never read to their end, such as those of a file system that does not answer, delay other
 * users by `readMsMax` at most.
 */

export interface EndedRun {
  runId: string
  executor: Executor
  handle: Handle
}

export type OutputCollector = ReturnType<typeof createOutputCollector>

const atATimeMax = 4
/** Longer than the restart of a container engine. */
const failedMsMax = 600_000
/** Enough to store 10 GiB in a slow database. */
const readMsMax = 1_800_000

class TooSlow extends Error {}

export function createOutputCollector(domain: Domain, limits: OutputLimits) {
  const { clock, log } = domain
  const limit = createUserLimiter(atATimeMax)
  const open = new Map<string, Promise<boolean>>()

  async function collect(run: EndedRun, signal: AbortSignal): Promise<boolean> {
    const order = await retry(run, signal, () => readOutputOrder(domain.db.sql, run.runId))
    if (order === undefined) return false // aborted
    if (order === null) return true // nothing to collect
    return limit(order.userId, () => collectInTurn(run, order, signal))
  }

  async function collectInTurn(run: EndedRun, order: OutputOrder, signal: AbortSignal): Promise<boolean> {
    let failedMs: number | null = null
    let hopeless: string | null = null
    const isDone = await retry(run, signal, async () => {
      try {
        if (hopeless === null) await collectInTime(domain, run, { signal, limits })
        else await giveUpOutputs(domain, order, hopeless)
        return true
      } catch (err) {
        const nowMs = clock.monotonicMs()
        failedMs ??= nowMs
        if (err instanceof TooSlow) hopeless ??= err.message
        else if (nowMs - failedMs > failedMsMax && !(err instanceof Unavailable))
          hopeless ??= 'they could not be read; the log of the server says why'
        throw err
      }
    })
    return isDone === true
  }

  function retry<T>({ runId }: EndedRun, signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    const onFailure = (err: unknown, failures: number) => {
      if (!signal.aborted) log.warn({ err, run: runId, failures }, 'output files cannot be collected now; retrying')
    }
    return retryUntilSuccess({ clock, signal, onFailure }, work)
  }

  return {
    /** true: the outputs are stored, and the executor may forget the run. false: `signal` aborted before. */
    async collect(run: EndedRun, signal: AbortSignal): Promise<boolean> {
      for (let other = open.get(run.runId); other; other = open.get(run.runId)) {
        if (await other) return true
        if (signal.aborted) return false
      }
      const begun = collect(run, signal).finally(() => open.delete(run.runId))
      open.set(run.runId, begun)
      return begun
    },
  }
}

/** Throws TooSlow after `readMsMax`. */
async function collectInTime(
  domain: Domain,
  { runId, executor, handle }: EndedRun,
  { signal, limits }: { signal: AbortSignal; limits: OutputLimits },
): Promise<void> {
  const late = new AbortController()
  const over = new AbortController()
  void domain.clock.sleep(readMsMax, over.signal).then(() => late.abort())
  const either = AbortSignal.any([signal, late.signal])
  try {
    await collectOutputs(domain, runId, (pick) => executor.outputs?.(handle, pick, either) ?? none(), limits)
  } catch (err) {
    if (!late.signal.aborted || err instanceof Unavailable) throw err
    throw new TooSlow(`they could not be read within ${readMsMax / 60_000} minutes`, { cause: err })
  } finally {
    over.abort()
  }
}

/**
 * Runs up to `max` tasks at a time, first tasks of users who have no running one. The last slot is only for such users,
 * so that no user delays all others.
 */
export function createUserLimiter(max: number) {
  const running: string[] = []
  const waiting: { userId: string; begin: () => void }[] = []
  function beginNext(): void {
    if (running.length >= max) return
    const fair = waiting.find(({ userId }) => !running.includes(userId))
    const next = fair ?? (running.length < max - 1 ? waiting[0] : undefined)
    if (!next) return
    waiting.splice(waiting.indexOf(next), 1)
    running.push(next.userId)
    next.begin()
  }
  return async <T>(userId: string, work: () => Promise<T>): Promise<T> => {
    await new Promise<void>((begin) => {
      waiting.push({ userId, begin })
      beginNext()
    })
    try {
      return await work()
    } finally {
      running.splice(running.indexOf(userId), 1)
      beginNext()
    }
  }
}

async function* none() {}
