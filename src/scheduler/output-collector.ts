import type { Domain } from '../domain/domain.ts'
import { readOutputOrder } from '../domain/outputs/attach.ts'
import { collectOutputs, giveUpOutputs } from '../domain/outputs/collect.ts'
import type { OutputLimits } from '../domain/outputs/selection.ts'
import type { Executor, Handle } from '../executors/executor.ts'
import { createSerial } from '../platform/serial.ts'
import { Unavailable } from '../platform/tx.ts'

/**
 * Collects the output files of runs that are over, a few runs at a time. A run holds no amounts meanwhile. What a server
 * does not finish, the next leader collects (leftovers.ts), because the executor keeps the run until then.
 */

export interface EndedRun {
  runId: string
  executor: Executor
  handle: Handle
}

export type OutputCollector = ReturnType<typeof createOutputCollector>

const atATimeMax = 4
const retryMsMax = 5_000
/** An engine that restarts answers sooner. */
const triedMsMax = 600_000

export function createOutputCollector(domain: Domain, limits: OutputLimits) {
  const { clock, log } = domain
  const serial = createSerial()
  const open = new Map<string, Promise<void>>()
  let slot = 0

  async function collect({ runId, executor, handle }: EndedRun, signal: AbortSignal): Promise<void> {
    const beganMs = clock.monotonicMs()
    for (let failures = 0; !signal.aborted; failures++)
      try {
        return await collectOutputs(domain, runId, (pick) => executor.outputs?.(handle, pick, signal) ?? none(), limits)
      } catch (err) {
        if (signal.aborted) return
        log.warn({ err, run: runId, failures }, 'output files cannot be collected now; retrying')
        if (clock.monotonicMs() - beganMs > triedMsMax && !(err instanceof Unavailable)) return giveUp(runId)
        await clock.sleep(Math.min(retryMsMax, 50 * 2 ** failures), signal)
      }
  }

  async function giveUp(runId: string): Promise<void> {
    const order = await readOutputOrder(domain.db.sql, runId)
    if (order) await giveUpOutputs(domain, order, 'they could not be read; the log of the server says why')
  }

  return {
    /** Ends when the outputs are stored, or `signal` aborts. A second call for a run waits for the first. */
    collect(run: EndedRun, signal: AbortSignal): Promise<void> {
      const collecting = open.get(run.runId)
      if (collecting) return collecting
      slot = (slot + 1) % atATimeMax
      const begun = serial.run(String(slot), () => collect(run, signal)).finally(() => open.delete(run.runId))
      open.set(run.runId, begun)
      return begun
    },
  }
}

async function* none() {}
