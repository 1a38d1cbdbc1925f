import type { Domain } from '../domain/domain.ts'
import type { HoldingRun, TimeLimit } from '../domain/jobs/runs.ts'
import type { Clock } from '../platform/clock.ts'

/**
 * The time at which a run must end. The maximum run time counts from the start of the command, by the monotonic clock.
 * The end of a hard reservation is compared with the clock of the database. Executors enforce a slightly later deadline
 * in case no server is alive.
 */
export interface Deadline {
  limit: TimeLimit
  leftMs(): number
}

/** Long waits are split, because the clock of the database may be set during a wait. */
const waitMsMax = 10_000

/** `startedAt` null: the run has started just now. */
export function listDeadlines(
  { spec, mustEndAt }: Pick<HoldingRun, 'spec' | 'mustEndAt'>,
  startedAt: Date | null,
  { clock, time }: Pick<Domain, 'clock' | 'time'>,
): Deadline[] {
  const deadlines: Deadline[] = []
  const maxMs = Math.ceil(spec.maxRunTimeSeconds * 1000)
  if (maxMs > 0) {
    const ranMs = startedAt === null ? 0 : Math.max(0, time.nowMs() - startedAt.getTime())
    const deadlineMs = clock.monotonicMs() + maxMs - ranMs
    deadlines.push({ limit: 'MAXIMUM', leftMs: () => deadlineMs - clock.monotonicMs() })
  }
  if (mustEndAt) deadlines.push({ limit: 'RESERVATION', leftMs: () => mustEndAt.getTime() - time.nowMs() })
  return deadlines
}

export async function waitUntilDue({ leftMs }: Deadline, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let left = leftMs(); left > 0 && !signal.aborted; left = leftMs())
    await clock.sleep(Math.min(left, waitMsMax), signal)
}
