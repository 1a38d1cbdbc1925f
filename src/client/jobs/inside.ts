import type { Connection } from '../connection/connection.ts'
import { RequestFailed } from '../connection/failure.ts'
import { retryWaitMs } from '../connection/retry.ts'
import {
  PublishArtifactDocument,
  type PublishArtifactInput,
  ReportProgressDocument,
  type ReportProgressInput,
  SaveClosureDocument,
} from '../generated/graphql.ts'

export type Inside = ReturnType<typeof createInside>

/** A missing field keeps its value; null removes the value. */
export type ProgressReport = ReportProgressInput

export interface Patience {
  patienceMs: number
  sleep(ms: number): Promise<unknown>
  monotonicMs(): number
}

/** Caps the backoff at this step, so that a job soon notices that the server is back. */
const stepMax = 2

/**
 * Creates the calls with which a job reports about itself, with the URL and token in its environment. All are idempotent,
 * and are retried for `patienceMs` while the server is unreachable.
 */
export function createInside(connection: Connection, { patienceMs, sleep, monotonicMs }: Patience) {
  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    const untilMs = monotonicMs() + patienceMs
    for (let failures = 0; ; failures++)
      try {
        return await work()
      } catch (error) {
        const waitMs = retryWaitMs(Math.min(failures, stepMax))
        const isLast = monotonicMs() + waitMs > untilMs
        if (isLast || !(error instanceof RequestFailed) || !error.retryable) throw error
        await sleep(waitMs)
      }
  }

  return {
    async reportProgress(input: ProgressReport): Promise<void> {
      await patiently(async () =>
        demandSuccess((await connection.request(ReportProgressDocument, { input })).reportProgress),
      )
    },
    /** Publishes an artifact, and returns its id. */
    async publishArtifact(input: PublishArtifactInput): Promise<string> {
      const { artifact } = await patiently(async () =>
        demandSuccess((await connection.request(PublishArtifactDocument, { input })).publishArtifact),
      )
      return artifact.id
    },
    async saveClosure(closure: Record<string, unknown>): Promise<void> {
      const input = { closure }
      await patiently(async () => demandSuccess((await connection.request(SaveClosureDocument, { input })).saveClosure))
    },
  }
}

/** Returns the success of a mutation; throws a problem as a failed request. */
function demandSuccess<Result extends object>(result: Result): Exclude<Result, { code: string }> {
  if ('code' in result && 'message' in result) throw new RequestFailed(String(result.code), String(result.message))
  return result as Exclude<Result, { code: string }>
}
